//! Blocked domains: their routes. Their command and their effects are in `platform/domain_policy`.

use model::domain_policy::Flags;
use model::instance::Severity;
use serde_json::{Value, json};

use crate::harness::{Client, TestApp};
use crate::platform::contract;
use crate::seed::Seed;

const PATH: &str = "/api/v1/admin/domain_blocks";

async fn server() -> (TestApp, Client) {
    let app = TestApp::new().await;
    let admin = app.staff("admin", "Admin").await;
    (app, admin)
}

async fn block(admin: &Client, new: Value) -> Value {
    admin.server.tick();
    let block = admin.post(PATH).json(&new).ok().await;
    contract::check("Admin_DomainBlock", &block);
    block
}

fn path(block: &Value) -> String {
    format!("{PATH}/{}", block["id"].as_str().unwrap())
}

#[tokio::test]
async fn domain_block_is_created_changed_listed_and_deleted() {
    let (app, admin) = server().await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let person = seed.account("mallory", Some("a.evil.test"));
    seed.write(app.db()).await;
    let standing = async || -> Vec<(bool, bool)> {
        app.run_jobs().await;
        let sql = format!("SELECT suspended_at IS NOT NULL, limited_at IS NOT NULL FROM accounts WHERE id = {person}");
        app.db().fetch_raw(&sql).await.unwrap()
    };
    let new = json!({
        "domain": " Evil.TEST ", "reject_media": true, "block_trends": "1", "obfuscate": true, "hidden": true,
        "private_comment": " see the report ", "public_comment": "",
    });
    let made = block(&admin, new).await;
    let expected = json!({
        "id": made["id"], "domain": "evil.test",
        "digest": crypto::sha256_hex(b"evil.test"),
        "created_at": "2026-01-15T12:00:02.000Z", "severity": "silence",
        "reject_media": true, "reject_favourite": false, "reject_reports": false,
        "reject_reply_exclude_followers": false, "reject_send_sensitive": false, "block_trends": true,
        "reject_hashtag": false, "reject_straight_follow": false, "reject_new_follow": false, "reject_friend": false,
        "detect_invalid_subscription": false, "private_comment": "see the report", "public_comment": null,
        "obfuscate": true,
    });
    assert_eq!(made, expected);
    assert_eq!(app.app.domain_policy().severity("a.evil.test"), Severity::Silence);
    assert_eq!(standing().await, [(false, true)]);
    assert_eq!(admin.get(&path(&made)).ok().await, made);

    app.tick();
    let change = json!({
        "domain": "other.test", "severity": "suspend", "reject_media": false, "reject_hashtag": true,
        "private_comment": "", "public_comment": "spam",
    });
    let changed = admin.put(&path(&made)).json(&change).ok().await;
    contract::check("Admin_DomainBlock", &changed);
    let mut expected = expected;
    for (name, value) in [
        ("severity", json!("suspend")),
        ("reject_media", json!(false)),
        ("reject_hashtag", json!(true)),
        ("private_comment", json!(null)),
        ("public_comment", json!("spam")),
    ] {
        expected[name] = value;
    }
    assert_eq!(changed, expected, "the domain stays");
    let flags = Flags { block_trends: true, reject_hashtag: true, ..Flags::NONE };
    assert_eq!(app.app.domain_policy().of("evil.test").flags, flags);
    assert_eq!(standing().await, [(true, false)], "the earlier limit is lifted");
    assert_eq!(app.number("SELECT COUNT(*) FROM domain_blocks WHERE hidden").await, 1);
    let changed = admin.patch(&path(&made)).json(&json!({ "severity": "noop" })).ok().await;
    assert_eq!(changed["severity"], "noop");
    assert_eq!(standing().await, [(false, false)]);
    admin.patch(&path(&made)).json(&json!({ "severity": "suspend" })).ok().await;
    assert_eq!(standing().await, [(true, false)]);

    let other = block(&admin, json!({ "domain": "bücher.example", "severity": "noop" })).await;
    assert_eq!(other["domain"], "xn--bcher-kva.example");
    let listed = admin.get(PATH).ok().await;
    contract::check("Admin_DomainBlock[]", &listed);
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]), (2, &other));
    let page = admin.get(&format!("{PATH}?limit=1")).send().await;
    assert!(page.header("link").contains(&format!("max_id={}>; rel=\"next\"", other["id"].as_str().unwrap())));

    assert_eq!(admin.delete(&path(&made)).ok().await, json!({}));
    assert_eq!(standing().await, [(false, false)]);
    assert_eq!(app.app.domain_policy().severity("evil.test"), Severity::Noop);
    for request in [admin.get(&path(&made)), admin.put(&path(&made)).json(&json!({ "severity": "loud" }))] {
        request.fails(404).await;
    }
    admin.delete(&path(&made)).fails(404).await;
}

#[tokio::test]
async fn domain_block_refuses_bad_parameters() {
    let (app, admin) = server().await;
    let made = block(&admin, json!({ "domain": "evil.test" })).await;
    for domain in ["", "no domain", "https://a.test/x", "https://a.test", "user@a.test", "*.a.test", "a..test"] {
        let said = admin.post(PATH).json(&json!({ "domain": domain })).fails(422).await;
        assert!(said.contains("is not a domain") && said.contains("example.org"), "{domain}: {said}");
    }
    admin.post(PATH).fails(422).await;
    assert!(admin.post(PATH).json(&json!({ "domain": "example.test" })).fails(422).await.contains("of this server"));
    for (change, named) in [
        (json!({ "severity": "loud" }), "severity:"),
        (json!({ "reject_media": [true] }), "reject_media:"),
        (json!({ "private_comment": "a".repeat(10_001) }), "comment"),
        (json!({ "public_comment": "a".repeat(10_001) }), "comment"),
    ] {
        let said = admin.put(&path(&made)).json(&change).fails(422).await;
        assert!(said.contains(named), "{change}: {said}");
        let mut new = change.clone();
        new["domain"] = json!("other.test");
        let said = admin.post(PATH).json(&new).fails(422).await;
        assert!(said.contains(named), "{change}: {said}");
    }
    assert_eq!(app.count("domain_blocks").await, 1);
    assert_eq!(admin.get(&path(&made)).ok().await, made);
}

#[tokio::test]
async fn block_that_is_not_stricter_conflicts_with_the_existing_one() {
    let (app, admin) = server().await;
    let conflict = async |new: Value| {
        let said = admin.post(PATH).json(&new).expect(422.try_into().unwrap()).await;
        contract::check("Admin_DomainBlock", &said["existing_domain_block"]);
        assert!(said["error"].as_str().unwrap().contains("covers this domain already"), "{said}");
        said["existing_domain_block"]["domain"].as_str().unwrap().to_owned()
    };
    block(&admin, json!({ "domain": "evil.test", "severity": "suspend" })).await;
    for severity in ["suspend", "silence", "noop"] {
        assert_eq!(conflict(json!({ "domain": "evil.test", "severity": severity })).await, "evil.test");
    }
    for severity in ["silence", "noop"] {
        assert_eq!(conflict(json!({ "domain": "a.evil.test", "severity": severity })).await, "evil.test");
    }
    block(&admin, json!({ "domain": "a.evil.test", "severity": "suspend" })).await;
    assert_eq!(conflict(json!({ "domain": "b.a.evil.test" })).await, "a.evil.test", "the most specific one");

    block(&admin, json!({ "domain": "loud.test", "severity": "silence", "reject_media": true })).await;
    assert_eq!(
        conflict(json!({ "domain": "a.loud.test", "severity": "noop", "reject_media": true })).await,
        "loud.test"
    );
    assert_eq!(conflict(json!({ "domain": "a.loud.test", "severity": "silence" })).await, "loud.test");
    block(&admin, json!({ "domain": "a.loud.test", "severity": "silence", "reject_media": true })).await;
    block(&admin, json!({ "domain": "b.loud.test", "severity": "suspend" })).await;
    block(&admin, json!({ "domain": "notloud.test", "severity": "noop" })).await;
    assert_eq!(app.count("domain_blocks").await, 6);
}

#[tokio::test]
async fn domain_blocks_need_permission_and_scope() {
    let (app, admin) = server().await;
    let made = block(&admin, json!({ "domain": "evil.test" })).await;
    let moderator = app.staff("moderator", "Moderator").await;
    let alice = app.account("alice").await;
    let wrong_scope = admin.with_scopes("read write admin:read:ip_blocks admin:write:domain_allows").await;
    let application = app.application("admin:read admin:write").await;
    for client in [&moderator, &alice, &wrong_scope, &application, &app.anonymous()] {
        client.get(PATH).fails(403).await;
        client.get(&path(&made)).fails(403).await;
        client.post(PATH).json(&json!({ "domain": "other.test" })).fails(403).await;
        client.put(&path(&made)).json(&json!({ "severity": "noop" })).fails(403).await;
        client.delete(&path(&made)).fails(403).await;
    }
    let reader = admin.with_scopes("admin:read:domain_blocks").await;
    assert_eq!(reader.get(&path(&made)).ok().await, made);
    reader.delete(&path(&made)).fails(403).await;
    let writer = admin.with_scopes("admin:write:domain_blocks").await;
    app.tick();
    writer.put(&path(&made)).json(&json!({ "severity": "noop" })).ok().await;
    app.tick();
    writer.delete(&path(&made)).ok().await;
    app.run(&["domain", "block", "evil.test"]).await.ok();
    app.run(&["domain", "block", "evil.test", "--severity", "noop"]).await.ok();
    app.run(&["domain", "remove", "evil.test"]).await.ok();
    let entries: Vec<(String, String)> =
        app.db().fetch_raw("SELECT actor_name, action FROM audit_log ORDER BY actor_name, action").await.unwrap();
    let expected = ["admin", "operator"].map(|actor| {
        ["create", "destroy", "update"].map(|action| (actor.to_owned(), format!("domain_block.{action}")))
    });
    assert_eq!(entries, expected.concat());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_eight_concurrent_domain_blocks_is_created() {
    let (app, admin) = server().await;
    for domain in ["evil.test", "loud.test"] {
        let new = json!({ "domain": domain, "severity": "suspend" });
        let running: Vec<_> = (0..8).map(|_| tokio::spawn(admin.post(PATH).json(&new).send())).collect();
        let mut statuses = Vec::new();
        for task in running {
            let answer = task.await.unwrap();
            assert!(answer.status == 200 || answer.json()["existing_domain_block"]["domain"] == domain);
            statuses.push(answer.status.as_u16());
        }
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 422, 422, 422, 422, 422, 422, 422]);
    }
    assert_eq!(app.count("domain_blocks").await, 2);
}
