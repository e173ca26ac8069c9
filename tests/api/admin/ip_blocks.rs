//! Blocked networks: their routes, their command, and their effects.

use chrono::Duration;
use serde_json::{Value, json};

use crate::harness::{Browser, Client, PASSWORD, RequestBuilder, TestApp};
use crate::platform::contract;

const PATH: &str = "/api/v1/admin/ip_blocks";
const BLOCKED: &str = "203.0.113.7";

/// A server behind a proxy, which reports the addresses of clients, and an admin.
async fn behind_proxy() -> (TestApp, Client) {
    let app = TestApp::with(&[("ROOKERY_SERVER_TRUSTED_PROXIES", "127.0.0.0/8")]).await;
    let admin = app.staff("admin", "Admin").await;
    (app, admin)
}

fn from(request: RequestBuilder, address: &str) -> RequestBuilder {
    request.header("x-forwarded-for", address)
}

async fn block(admin: &Client, ip: &str, severity: &str) -> Value {
    admin.server.tick();
    let block = admin.post(PATH).json(&json!({ "ip": ip, "severity": severity })).ok().await;
    contract::check("Admin_IpBlock", &block);
    block
}

/// The status of a request of the API from `address`.
async fn status(app: &TestApp, address: &str) -> u16 {
    from(app.anonymous().get("/api/v2/instance"), address).send().await.status.as_u16()
}

fn form(name: &str) -> Value {
    let email = format!("{name}@mail.test");
    json!({ "username": name, "email": email, "password": "correct horse", "agreement": true })
}

#[tokio::test]
async fn ip_block_is_created_changed_listed_and_deleted() {
    let (app, admin) = behind_proxy().await;
    let new = json!({ "ip": "203.0.113.7", "severity": "sign_up_block", "comment": "spam", "expires_in": "3600" });
    let made = admin.post(PATH).json(&new).ok().await;
    let expected = json!({
        "id": made["id"], "ip": "203.0.113.7/32", "severity": "sign_up_block", "comment": "spam",
        "created_at": "2026-01-15T12:00:01.000Z", "expires_at": "2026-01-15T13:00:01.000Z",
    });
    assert_eq!(made, expected);
    let path = format!("{PATH}/{}", made["id"].as_str().unwrap());
    assert_eq!(admin.get(&path).ok().await, made);

    app.tick();
    let changed = admin.put(&path).json(&json!({ "ip": "203.0.113.9/24", "expires_in": "" })).ok().await;
    let expected = json!({
        "id": made["id"], "ip": "203.0.113.0/24", "severity": "sign_up_block", "comment": "spam",
        "created_at": made["created_at"], "expires_at": null,
    });
    assert_eq!(changed, expected);
    let changed = admin.patch(&path).json(&json!({ "severity": "no_access", "comment": "" })).ok().await;
    assert_eq!((&changed["severity"], &changed["comment"]), (&json!("no_access"), &json!("")));

    block(&admin, "2001:DB8::/32", "no_access").await;
    let listed = admin.get(PATH).ok().await;
    contract::check("Admin_IpBlock[]", &listed);
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert_eq!((&listed[0]["ip"], &listed[1]), (&json!("2001:db8::/32"), &changed));
    let page = admin.get(&format!("{PATH}?limit=1")).send().await;
    let last = listed[0]["id"].as_str().unwrap();
    let links = page.header("link");
    assert!(links.contains(&format!("max_id={last}>; rel=\"next\"")), "{links}");
    assert!(links.contains(&format!("min_id={last}>; rel=\"prev\"")), "{links}");

    assert_eq!(admin.delete(&path).ok().await, json!({}));
    assert_eq!(status(&app, BLOCKED).await, 200);
    for request in [admin.get(&path), admin.put(&path).json(&json!({ "ip": "nonsense" })), admin.delete(&path)] {
        request.fails(404).await;
    }
    admin.get(&format!("{PATH}/nonsense")).fails(404).await;
}

#[tokio::test]
async fn ip_block_refuses_bad_parameters_and_duplicates() {
    let (app, admin) = behind_proxy().await;
    block(&admin, "203.0.113.0/24", "sign_up_block").await;
    let other = block(&admin, "198.51.100.1", "sign_up_block").await;
    let other = format!("{PATH}/{}", other["id"].as_str().unwrap());
    for (change, named) in [
        (json!({ "ip": null }), "ip:"),
        (json!({ "ip": "" }), "ip:"),
        (json!({ "ip": "example.org" }), "ip:"),
        (json!({ "ip": "203.0.113.0/33" }), "ip:"),
        (json!({ "ip": ["203.0.113.1"] }), "ip:"),
        (json!({ "ip": "203.0.113.200/24" }), "blocked already"),
        (json!({ "ip": "::ffff:203.0.113.0/120" }), "blocked already"),
        (json!({ "severity": null }), "severity:"),
        (json!({ "severity": "" }), "severity:"),
        (json!({ "severity": "loud" }), "severity:"),
        (json!({ "expires_in": 0 }), "expires_in:"),
        (json!({ "expires_in": -1 }), "expires_in:"),
        (json!({ "expires_in": i64::MAX }), "expires_in:"),
        (json!({ "expires_in": "soon" }), "expires_in:"),
        (json!({ "comment": "a".repeat(10_001) }), "comment:"),
        (json!({ "comment": "a\u{0}" }), "comment"),
    ] {
        let mut new = json!({ "ip": "192.0.2.1", "severity": "no_access" });
        new.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let said = admin.post(PATH).json(&new).fails(422).await;
        assert!(said.contains(named), "{change}: {said}");
        // Absent and empty parameters leave a value as it is.
        if !change["ip"].is_null() || change["expires_in"].is_number() || change["comment"].is_string() {
            let said = admin.put(&other).json(&change).fails(422).await;
            assert!(said.contains(named), "{change}: {said}");
        }
    }
    assert_eq!(app.count("ip_blocks").await, 2);
    assert_eq!(app.number("SELECT COUNT(*) FROM ip_blocks WHERE ip = '198.51.100.1/32'").await, 1);
}

#[tokio::test]
async fn network_of_the_caller_is_blocked_only_by_force() {
    let (app, admin) = behind_proxy().await;
    let own = |ip: &str| from(admin.post(PATH), BLOCKED).json(&json!({ "ip": ip, "severity": "no_access" }));
    for ip in [BLOCKED, "203.0.113.0/24", "0.0.0.0/0", "::ffff:203.0.113.7"] {
        let said = own(ip).fails(422).await;
        assert!(said.contains("your own address") && said.contains("force"), "{said}");
    }
    let made = own("198.51.100.0/24").ok().await;
    let path = format!("{PATH}/{}", made["id"].as_str().unwrap());
    from(admin.put(&path), BLOCKED).json(&json!({ "ip": "203.0.113.0/24" })).fails(422).await;
    assert_eq!(status(&app, BLOCKED).await, 200);

    let forced = json!({ "ip": "203.0.113.0/24", "severity": "no_access", "force": true });
    from(admin.post(PATH), BLOCKED).json(&forced).ok().await;
    from(admin.get(PATH), BLOCKED).fails(403).await;
    assert_eq!(admin.get(PATH).ok().await.as_array().unwrap().len(), 2, "from another address");
}

#[tokio::test]
async fn no_access_refuses_every_request_but_probes() {
    let (app, admin) = behind_proxy().await;
    let alice = app.account("alice").await;
    app.set_password("alice", PASSWORD).await;
    block(&admin, "203.0.113.0/28", "no_access").await;
    block(&admin, "2001:db8:1::/48", "no_access").await;
    for (address, expected) in [
        (BLOCKED, 403),
        ("::ffff:203.0.113.7", 403),
        ("2001:db8:1:2::3", 403),
        ("203.0.113.16", 200),
        ("2001:db8:2::3", 200),
        ("::1", 200),
    ] {
        assert_eq!(status(&app, address).await, expected, "{address}");
    }
    let said = from(alice.get("/api/v1/preferences"), BLOCKED).fails(403).await;
    assert!(said.contains("network is blocked"), "{said}");
    for path in ["/oauth/token", "/api/v1/apps", "/api/v1/accounts", "/inbox", "/api/v1/statuses"] {
        from(alice.post(path), BLOCKED).json(&json!({ "status": "hello" })).fails(403).await;
    }
    for path in ["/nodeinfo/2.0", "/.well-known/host-meta.json", "/api/v1/streaming/public", "/nowhere"] {
        from(app.anonymous().get(path), BLOCKED).fails(403).await;
    }
    assert_eq!(app.count("statuses").await, 0);
    for path in ["/", "/auth/sign_in", "/auth/sign_up", "/@alice", "/oauth/authorize", "/settings"] {
        let page = from(app.anonymous().get(path).header("accept", "text/html"), BLOCKED).send().await;
        assert_eq!(page.status, 403, "{path}");
        assert!(page.text().contains("<html") && page.text().contains("network is blocked"), "{}", page.text());
    }
    let credentials = [("email", "alice"), ("password", PASSWORD)];
    let sign_in = from(app.anonymous().post("/auth/sign_in"), BLOCKED).form(&credentials).send().await;
    assert_eq!((sign_in.status.as_u16(), sign_in.header("set-cookie")), (403, ""));
    for path in ["/health", "/livez", "/readyz"] {
        assert_eq!(from(app.anonymous().get(path), BLOCKED).send().await.status, 200, "{path}");
    }
    let cors = from(alice.get("/api/v1/preferences"), BLOCKED).header("origin", "https://app.test").send().await;
    assert_eq!((cors.status.as_u16(), cors.header("access-control-allow-origin")), (403, "*"));
}

#[tokio::test]
async fn block_costs_no_statement_and_every_server_notices_it() {
    let (app, admin) = behind_proxy().await;
    let beside = app.beside(&[("ROOKERY_SERVER_TRUSTED_PROXIES", "127.0.0.0/8")]).await;
    block(&admin, BLOCKED, "no_access").await;
    let (cost, refused) = app.cost(status(&app, BLOCKED)).await;
    assert_eq!((cost, refused), (0, 403));
    assert!(beside.app.invalidate().await.unwrap(), "as its poll does");
    assert_eq!(status(&beside, BLOCKED).await, 403);
}

#[tokio::test]
async fn expired_block_has_no_effect_and_can_be_replaced() {
    let (app, admin) = behind_proxy().await;
    let new = json!({ "ip": BLOCKED, "severity": "no_access", "expires_in": 60 });
    let first = admin.post(PATH).json(&new).ok().await;
    assert_eq!(status(&app, BLOCKED).await, 403);
    admin.post(PATH).json(&new).fails(422).await;
    app.app.clock.advance(Duration::seconds(60));
    assert_eq!(status(&app, BLOCKED).await, 200);

    let second = admin.post(PATH).json(&new).ok().await;
    assert_ne!(first["id"], second["id"]);
    assert_eq!((status(&app, BLOCKED).await, app.count("ip_blocks").await), (403, 1));
    app.app.clock.advance(Duration::hours(2));
    worker::cron::schedule(&app.app).await.unwrap();
    app.run_jobs().await;
    assert_eq!(app.count("ip_blocks").await, 0, "cleaned up");
}

#[tokio::test]
async fn sign_up_block_refuses_sign_up_alone() {
    let (app, admin) = behind_proxy().await;
    app.set("registrations_mode", "open").await;
    block(&admin, BLOCKED, "sign_up_block").await;
    let client = app.application("read write").await;
    let said = from(client.post("/api/v1/accounts"), BLOCKED).json(&form("alice")).fails(403).await;
    assert!(said.contains("your network"), "{said}");
    assert_eq!(status(&app, BLOCKED).await, 200);
    client.post("/api/v1/accounts").json(&form("alice")).ok().await;

    // Browsers of the tests have the address of the proxy.
    let own = json!({ "ip": "127.0.0.1", "severity": "sign_up_block", "force": true });
    let browser = Browser::new(&app);
    let page = browser.get("/auth/sign_up").await;
    admin.post(PATH).json(&own).ok().await;
    assert!(!browser.get("/auth/sign_up").await.text().contains("name=\"password\""));
    let good = [("username", "bob"), ("email", "bob@mail.test"), ("password", "long enough"), ("agreement", "true")];
    let refused = browser.submit(&page, "/auth/sign_up", &good).await;
    assert_eq!(refused.status, 403);
    assert!(refused.text().contains("not possible from your network"), "{}", refused.text());
    assert_eq!(app.number("SELECT COUNT(*) FROM users WHERE email LIKE '%@mail.test'").await, 1);
}

#[tokio::test]
async fn network_may_need_approval_where_registrations_are_open() {
    let (app, admin) = behind_proxy().await;
    app.set("registrations_mode", "open").await;
    app.set("require_invite_text", true).await;
    block(&admin, BLOCKED, "sign_up_requires_approval").await;
    let client = app.application("read write").await;
    from(client.post("/api/v1/accounts"), BLOCKED).json(&form("alice")).ok().await;
    client.post("/api/v1/accounts").json(&form("bob")).ok().await;
    let approved: Vec<(String, bool)> = app
        .db()
        .fetch_raw("SELECT u.email, u.approved FROM users u WHERE u.email LIKE '%@mail.test' ORDER BY u.email")
        .await
        .unwrap();
    assert_eq!(approved, [("alice@mail.test".to_owned(), false), ("bob@mail.test".to_owned(), true)]);
}

#[tokio::test]
async fn ip_blocks_need_permission_and_scope() {
    let (app, admin) = behind_proxy().await;
    let made = block(&admin, BLOCKED, "sign_up_block").await;
    let path = format!("{PATH}/{}", made["id"].as_str().unwrap());
    let moderator = app.staff("moderator", "Moderator").await;
    let alice = app.account("alice").await;
    let unprivileged = alice.with_scopes("admin:read admin:write").await;
    let wrong_scope = admin.with_scopes("read write admin:read:email_domain_blocks admin:write:accounts").await;
    let application = app.application("admin:read admin:write").await;
    for client in [&moderator, &alice, &unprivileged, &wrong_scope, &application, &app.anonymous()] {
        let new = json!({ "ip": "192.0.2.1", "severity": "no_access" });
        client.get(PATH).fails(403).await;
        client.get(&path).fails(403).await;
        client.post(PATH).json(&new).fails(403).await;
        client.put(&path).json(&new).fails(403).await;
        client.delete(&path).fails(403).await;
    }
    let owner = app.staff("owner", "Owner").await;
    let reader = owner.with_scopes("admin:read:ip_blocks").await;
    assert_eq!(reader.get(&path).ok().await, made);
    reader.delete(&path).fails(403).await;
    owner.with_scopes("admin:write:ip_blocks").await.delete(&path).ok().await;
}

#[tokio::test]
async fn changes_of_ip_blocks_are_audited() {
    let (app, admin) = behind_proxy().await;
    let made = block(&admin, BLOCKED, "sign_up_block").await;
    let path = format!("{PATH}/{}", made["id"].as_str().unwrap());
    app.tick();
    admin.put(&path).json(&json!({ "severity": "no_access" })).ok().await;
    app.tick();
    admin.delete(&path).ok().await;
    app.run(&["ip-block", "add", "192.0.2.0/24"]).await.ok();
    let entries: Vec<(String, String, String)> = app
        .db()
        .fetch_raw("SELECT action, actor_name, target_name FROM audit_log WHERE target_kind = 'ip_block' ORDER BY id")
        .await
        .unwrap();
    let mut entries: Vec<[&str; 3]> =
        entries.iter().map(|(action, actor, target)| [action.as_str(), actor.as_str(), target.as_str()]).collect();
    entries.sort_unstable();
    let expected = [
        ["ip_block.create", "admin", "203.0.113.7/32"],
        ["ip_block.create", "operator", "192.0.2.0/24"],
        ["ip_block.destroy", "admin", "203.0.113.7/32"],
        ["ip_block.update", "admin", "203.0.113.7/32"],
    ];
    assert_eq!(entries, expected);
}

#[tokio::test]
async fn command_adds_lists_updates_and_removes_ip_blocks() {
    let (app, _) = behind_proxy().await;
    let made = app.run(&["ip-block", "add", "203.0.113.7", "--comment", "spam", "--json"]).await.json();
    assert_eq!((&made[0]["ip"], &made[0]["severity"]), (&json!("203.0.113.7/32"), &json!("no_access")));
    assert!(app.app.reload().await.unwrap());
    assert_eq!(status(&app, BLOCKED).await, 403);
    assert!(app.run(&["ip-block", "add", BLOCKED]).await.fails(1).contains("blocked already"));
    assert!(app.run(&["ip-block", "add", "nonsense"]).await.fails(1).contains("IP address"));

    let update = [
        "ip-block",
        "update",
        BLOCKED,
        "--severity",
        "sign-up-block",
        "--expires-in",
        "60",
        "--new-ip",
        "198.51.100.0/24",
    ];
    assert!(app.run(&update).await.ok().contains("198.51.100.0/24"));
    assert!(app.run(&update).await.fails(1).contains("not blocked"));
    let listed = app.run(&["ip-block", "list"]).await.ok();
    assert!(
        listed.contains("198.51.100.0/24") && listed.contains("sign_up_block") && listed.contains("spam"),
        "{listed}"
    );
    app.run(&["ip-block", "update", "198.51.100.0/24", "--never-expires"]).await.ok();
    let listed = &app.run(&["ip-block", "list", "--json"]).await.json()[0];
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["expires_at"]), (1, &Value::Null));
    app.run(&["ip-block", "remove", "198.51.100.0/24"]).await.ok();
    assert!(app.run(&["ip-block", "remove", "198.51.100.0/24"]).await.fails(1).contains("not blocked"));
    assert!(app.app.reload().await.unwrap());
    assert_eq!((status(&app, BLOCKED).await, app.count("ip_blocks").await), (200, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_eight_concurrent_ip_blocks_is_created() {
    let (app, admin) = behind_proxy().await;
    for ip in ["192.0.2.1", "192.0.2.0/24"] {
        let new = json!({ "ip": ip, "severity": "no_access" });
        let running: Vec<_> = (0..8).map(|_| tokio::spawn(admin.post(PATH).json(&new).send())).collect();
        let mut statuses = Vec::new();
        for task in running {
            let answer = task.await.unwrap();
            assert!(answer.status == 200 || answer.error().unwrap().contains("blocked already"), "{}", answer.text());
            statuses.push(answer.status.as_u16());
        }
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 422, 422, 422, 422, 422, 422, 422]);
    }
    assert_eq!(app.count("ip_blocks").await, 2);
}
