//! Domains whose e-mail addresses cannot be used to sign up: their routes, their command, and their effects.

use chrono::Duration;
use serde_json::{Value, json};

use crate::harness::{Answer, Browser, Client, PASSWORD, TestApp};
use crate::platform::contract;

const PATH: &str = "/api/v1/admin/email_domain_blocks";

async fn open() -> (TestApp, Client, Client) {
    let app = TestApp::new().await;
    app.set("registrations_mode", "open").await;
    let admin = app.staff("admin", "Admin").await;
    let client = app.application("read write").await;
    (app, admin, client)
}

async fn block(admin: &Client, domain: &str, allow_with_approval: bool) -> Value {
    admin.server.tick();
    let new = json!({ "domain": domain, "allow_with_approval": allow_with_approval });
    let block = admin.post(PATH).json(&new).ok().await;
    contract::check("Admin_EmailDomainBlock", &block);
    block
}

async fn sign_up(client: &Client, name: &str, email: &str) -> Answer {
    let form = json!({ "username": name, "email": email, "password": "correct horse", "agreement": true });
    client.post("/api/v1/accounts").json(&form).send().await
}

/// An application that is registered, and may therefore resend confirmations.
async fn registered(client: &Client) -> Client {
    let new = json!({ "client_name": "app", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob", "scopes": "read write" });
    let app = client.server.anonymous().post("/api/v1/apps").json(&new).ok().await;
    let grant = json!({
        "grant_type": "client_credentials", "client_id": app["client_id"], "client_secret": app["client_secret"],
        "scope": "read write",
    });
    let token = client.server.anonymous().post("/oauth/token").json(&grant).ok().await;
    Client::new(client.server.clone(), None, "", token["access_token"].as_str().map(str::to_owned))
}

#[tokio::test]
async fn email_domain_block_is_created_listed_and_deleted() {
    let (_, admin, _) = open().await;
    let made = block(&admin, " Mail.TEST ", false).await;
    assert_eq!((&made["domain"], &made["allow_with_approval"]), (&json!("mail.test"), &json!(false)));
    assert_eq!(made["created_at"], "2026-01-15T12:00:02.000Z");
    assert_eq!(made["history"][0], json!({ "day": "1768435200", "uses": "0", "accounts": "0" }));
    assert_eq!(made["history"][6]["day"], "1767916800");
    let path = format!("{PATH}/{}", made["id"].as_str().unwrap());
    assert_eq!(admin.get(&path).ok().await, made);
    let other = block(&admin, "bücher.example", true).await;
    assert_eq!((&other["domain"], &other["allow_with_approval"]), (&json!("xn--bcher-kva.example"), &json!(true)));

    let listed = admin.get(PATH).ok().await;
    contract::check("Admin_EmailDomainBlock[]", &listed);
    assert_eq!(listed, json!([other, made]));
    let page = admin.get(&format!("{PATH}?limit=1")).send().await;
    assert_eq!(page.json(), json!([other]));
    assert!(page.header("link").contains(&format!("max_id={}>; rel=\"next\"", other["id"].as_str().unwrap())));

    assert_eq!(admin.delete(&path).ok().await, json!({}));
    admin.get(&path).fails(404).await;
    admin.delete(&path).fails(404).await;
    block(&admin, "mail.test", true).await;
}

#[tokio::test]
async fn email_domain_block_refuses_bad_domains_and_duplicates() {
    let (app, admin, _) = open().await;
    block(&admin, "mail.test", false).await;
    for domain in ["", " ", "https://a.test/", "user@a.test", "*.a.test", "a..test", "a.test:25", "a b"] {
        let said = admin.post(PATH).json(&json!({ "domain": domain })).fails(422).await;
        assert!(said.contains("domain: ") && said.contains("example.org"), "{domain}: {said}");
    }
    admin.post(PATH).json(&json!({})).fails(422).await;
    admin.post(PATH).json(&json!({ "domain": ["a.test"] })).fails(422).await;
    for duplicate in ["mail.test", "MAIL.test"] {
        let said = admin.post(PATH).json(&json!({ "domain": duplicate })).fails(422).await;
        assert!(said.contains("mail.test is blocked already"), "{said}");
    }
    assert_eq!(app.count("email_domain_blocks").await, 1);
}

#[tokio::test]
async fn blocked_provider_is_refused_at_sign_up_and_counted() {
    let (app, admin, client) = open().await;
    let made = block(&admin, "mail.test", false).await;
    let path = format!("{PATH}/{}", made["id"].as_str().unwrap());
    for email in ["a@mail.test", "A.b+c@MAIL.test", "ab@mail.test", "b@deep.sub.mail.test"] {
        let refused = sign_up(&client, "alice", email).await;
        assert_eq!(refused.status, 422, "{email}");
        let said = refused.json();
        assert_eq!(said["details"]["email"][0]["error"], "ERR_BLOCKED", "{said}");
        assert!(said["error"].as_str().unwrap().contains("provider"), "{said}");
    }
    assert_eq!(sign_up(&client, "alice", "a@notmail.test").await.status, 200);
    let history = admin.get(&path).ok().await["history"].clone();
    assert_eq!(history[0], json!({ "day": "1768435200", "uses": "4", "accounts": "3" }), "two are one address");

    app.app.clock.advance(Duration::days(1));
    sign_up(&client, "bob", "a@mail.test").await;
    let history = admin.get(&path).ok().await["history"].clone();
    assert_eq!((&history[0]["uses"], &history[1]["uses"]), (&json!("1"), &json!("4")));
    app.app.clock.advance(Duration::days(6));
    worker::cron::schedule(&app.app).await.unwrap();
    app.run_jobs().await;
    assert_eq!(app.count("email_domain_attempts").await, 1, "seven days are kept");
    admin.delete(&path).ok().await;
    assert_eq!(app.count("email_domain_attempts").await, 0);
    assert_eq!(sign_up(&client, "carol", "a@mail.test").await.status, 200);
}

#[tokio::test]
async fn blocked_provider_is_refused_on_the_page() {
    let (app, admin, _) = open().await;
    block(&admin, "mail.test", false).await;
    let browser = Browser::new(&app);
    let page = browser.get("/auth/sign_up").await;
    let good =
        [("username", "alice"), ("email", "alice@mail.test"), ("password", "long enough"), ("agreement", "true")];
    let refused = browser.submit(&page, "/auth/sign_up", &good).await;
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("provider that this server does not accept"), "{}", refused.text());
}

#[tokio::test]
async fn provider_may_need_approval_and_stricter_block_wins() {
    let (app, admin, client) = open().await;
    block(&admin, "mail.test", true).await;
    assert_eq!(sign_up(&client, "alice", "alice@mail.test").await.status, 200);
    assert_eq!(sign_up(&client, "bob", "bob@free.test").await.status, 200);
    let approved: Vec<(String, bool)> = app
        .db()
        .fetch_raw("SELECT u.email, u.approved FROM users u WHERE u.email NOT LIKE '%@example.test' ORDER BY u.email")
        .await
        .unwrap();
    assert_eq!(approved, [("alice@mail.test".to_owned(), false), ("bob@free.test".to_owned(), true)]);

    block(&admin, "sub.mail.test", false).await;
    assert_eq!(sign_up(&client, "carol", "carol@sub.mail.test").await.status, 422);
    block(&admin, "strict.test", false).await;
    block(&admin, "mild.strict.test", true).await;
    assert_eq!(sign_up(&client, "carol", "carol@mild.strict.test").await.status, 422, "the one above is stricter");
}

#[tokio::test]
async fn blocked_provider_is_refused_when_an_address_changes() {
    let (app, admin, client) = open().await;
    block(&admin, "mail.test", false).await;
    block(&admin, "approved.test", true).await;
    app.account("alice").await;
    let browser = Browser::signed_in(&app, "alice").await;
    let change = async |email: &str| {
        let page = browser.get("/settings/email").await;
        browser.submit(&page, "/settings/email", &[("email", email), ("email_password", PASSWORD)]).await
    };
    let refused = change("alice@sub.mail.test").await;
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("provider that this server does not accept"), "{}", refused.text());
    assert_eq!(change("alice@approved.test").await.status, 302, "the account was approved long ago");

    // Before the address is confirmed, it is part of the sign-up.
    let client = registered(&client).await;
    let token = sign_up(&client, "bob", "bob@free.test").await.json();
    let bob = Client::new(app.clone(), None, "bob", token["access_token"].as_str().map(str::to_owned));
    let resend = |email: &str| bob.post("/api/v1/emails/confirmations").json(&json!({ "email": email }));
    resend("bob@mail.test").fails(422).await;
    assert_eq!(app.number("SELECT COUNT(*) FROM users WHERE email = 'bob@free.test' AND approved").await, 1);
    resend("bob@approved.test").ok().await;
    assert_eq!(app.number("SELECT COUNT(*) FROM users WHERE email = 'bob@approved.test' AND NOT approved").await, 1);
}

#[tokio::test]
async fn email_domain_blocks_need_permission_and_scope() {
    let (app, admin, _) = open().await;
    let made = block(&admin, "mail.test", false).await;
    let path = format!("{PATH}/{}", made["id"].as_str().unwrap());
    let moderator = app.staff("moderator", "Moderator").await;
    let alice = app.account("alice").await;
    let wrong_scope = admin.with_scopes("read write admin:read:ip_blocks admin:write:ip_blocks").await;
    let application = app.application("admin:read admin:write").await;
    for client in [&moderator, &alice, &wrong_scope, &application, &app.anonymous()] {
        client.get(PATH).fails(403).await;
        client.get(&path).fails(403).await;
        client.post(PATH).json(&json!({ "domain": "other.test" })).fails(403).await;
        client.delete(&path).fails(403).await;
    }
    let reader = admin.with_scopes("admin:read:email_domain_blocks").await;
    assert_eq!(reader.get(&path).ok().await, made);
    reader.delete(&path).fails(403).await;
    admin.with_scopes("admin:write:email_domain_blocks").await.delete(&path).ok().await;
    let actions: Vec<(String, String)> =
        app.db().fetch_raw("SELECT action, target_name FROM audit_log ORDER BY id").await.unwrap();
    let expected = ["email_domain_block.create", "email_domain_block.destroy"];
    assert_eq!(actions, expected.map(|action| (action.to_owned(), "mail.test".to_owned())));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_eight_concurrent_email_domain_blocks_is_created() {
    let (app, admin, client) = open().await;
    let new = json!({ "domain": "mail.test" });
    let running: Vec<_> = (0..8).map(|_| tokio::spawn(admin.post(PATH).json(&new).send())).collect();
    let mut statuses = Vec::new();
    for task in running {
        statuses.push(task.await.unwrap().status.as_u16());
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 422, 422, 422, 422, 422, 422, 422]);
    let attempts: Vec<_> = (0..8)
        .map(|n| {
            let client = client.clone();
            tokio::spawn(async move { sign_up(&client, &format!("alice{n}"), "a@mail.test").await.status.as_u16() })
        })
        .collect();
    for task in attempts {
        assert_eq!(task.await.unwrap(), 422);
    }
    assert_eq!(app.number("SELECT uses FROM email_domain_attempts").await, 8);
}

#[tokio::test]
async fn command_adds_lists_tests_and_removes_email_blocks() {
    let (app, _, client) = open().await;
    let run = async |arguments: &[&str]| app.run(&[&["email-block"], arguments].concat()).await;
    assert!(run(&["add", "mail.test"]).await.ok().contains("mail.test cannot sign up"));
    assert!(run(&["add", "soft.test", "--allow-with-approval"]).await.ok().contains("need approval"));
    let address = run(&["add", "Bad.Guy+x@free.test", "--json"]).await.json();
    let hash = service::email_block::canonical_hash("badguy@free.test");
    assert_eq!(address[0]["canonical_email_hash"], hash.as_str());
    for (arguments, code, said) in [
        (vec!["add", "mail.test"], 1, "blocked already"),
        (vec!["add", "badguy@free.test"], 1, "blocked already"),
        (vec!["add", hash.as_str()], 1, "blocked already"),
        (vec!["add", "no domain"], 1, "is not a domain"),
        (vec!["add", "@"], 1, "e-mail address"),
        (vec!["add", "a@b.test", "--allow-with-approval"], 2, "for domains"),
        (vec!["remove", "other.test"], 1, "not blocked"),
        (vec!["remove", "a@b.test"], 1, "not blocked"),
    ] {
        assert!(run(&arguments).await.fails(code).contains(said), "{arguments:?}");
    }
    let listed = run(&["list", "--json"]).await.list();
    let kinds: Vec<&str> = listed.iter().map(|block| block["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["domain", "domain", "address"]);
    assert_eq!((&listed[0]["allow_with_approval"], &listed[1]["domain"]), (&true.into(), &"mail.test".into()));
    let text = run(&["list"]).await.ok();
    assert!(text.contains("blocked        mail.test") && text.contains(&hash), "{text}");
    assert_eq!(run(&["test", "b.adguy@free.test", "--json"]).await.json()[0]["blocked"], true);
    assert!(run(&["test", "good@free.test"]).await.ok().contains("not blocked"));
    assert_eq!(sign_up(&client, "alice", "alice@mail.test").await.status, 422, "at once");
    for what in ["mail.test", "soft.test", "badguy@free.test"] {
        run(&["remove", what]).await.ok();
    }
    assert_eq!(app.count("email_domain_blocks").await + app.count("canonical_email_blocks").await, 0);
    let operator = "SELECT COUNT(*) FROM audit_log WHERE actor_name = 'operator' AND account_id IS NULL";
    assert_eq!(app.number(operator).await, 6);
}
