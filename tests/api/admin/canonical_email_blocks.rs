//! Blocked e-mail addresses: their routes and their effects. Their command is in `email_domain_blocks`.

use serde_json::{Value, json};

use crate::harness::{Client, TestApp};
use crate::platform::contract;

const PATH: &str = "/api/v1/admin/canonical_email_blocks";
/// The hash of test@example.com.
const HASH: &str = "973dfe463ec85785f5f95af5ba3906eedb2d931c24e69824a89ea65dba4e813b";

async fn block(admin: &Client, new: Value) -> Value {
    admin.server.tick();
    let block = admin.post(PATH).json(&new).ok().await;
    contract::check("Admin_CanonicalEmailBlock", &block);
    block
}

#[tokio::test]
async fn canonical_email_block_is_created_tested_listed_and_deleted() {
    let app = TestApp::new().await;
    let admin = app.staff("admin", "Admin").await;
    let made = block(&admin, json!({ "email": "T.est+spam@Example.com", "canonical_email_hash": "ignored" })).await;
    assert_eq!(made["canonical_email_hash"], HASH);
    let path = format!("{PATH}/{}", made["id"].as_str().unwrap());
    assert_eq!(admin.get(&path).ok().await, made);
    let other = block(&admin, json!({ "canonical_email_hash": "AB".repeat(32) })).await;
    assert_eq!(other["canonical_email_hash"], "ab".repeat(32));

    let listed = admin.get(PATH).ok().await;
    contract::check("Admin_CanonicalEmailBlock[]", &listed);
    assert_eq!(listed, json!([other, made]));
    let page = admin.get(&format!("{PATH}?limit=1")).send().await;
    assert!(page.header("link").contains(&format!("max_id={}>; rel=\"next\"", other["id"].as_str().unwrap())));

    let reader = admin.with_scopes("admin:read:canonical_email_blocks").await;
    let test = |email: &str| reader.post(&format!("{PATH}/test")).json(&json!({ "email": email }));
    assert_eq!(test("te.st@example.com").ok().await, json!([made]));
    assert_eq!(test("other@example.com").ok().await, json!([]));
    assert_eq!(test("nonsense").ok().await, json!([]));
    test("").fails(400).await;
    reader.post(&format!("{PATH}/test")).fails(400).await;

    assert_eq!(admin.delete(&path).ok().await, json!({}));
    admin.get(&path).fails(404).await;
    admin.delete(&path).fails(404).await;
    assert_eq!(test("test@example.com").ok().await, json!([]));
}

#[tokio::test]
async fn canonical_email_block_refuses_bad_parameters_and_duplicates() {
    let app = TestApp::new().await;
    let admin = app.staff("admin", "Admin").await;
    block(&admin, json!({ "email": "test@example.com" })).await;
    for (new, named) in [
        (json!({}), "is missing"),
        (json!({ "email": "", "canonical_email_hash": " " }), "is missing"),
        (json!({ "email": "nobody" }), "e-mail address"),
        (json!({ "email": ["a@b.test"] }), "email:"),
        (json!({ "canonical_email_hash": "abc" }), "64 hexadecimal digits"),
        (json!({ "canonical_email_hash": "z".repeat(64) }), "64 hexadecimal digits"),
        (json!({ "email": "t.e.s.t+again@EXAMPLE.com" }), "blocked already"),
        (json!({ "canonical_email_hash": HASH }), "blocked already"),
        (json!({ "canonical_email_hash": HASH.to_uppercase() }), "blocked already"),
    ] {
        let said = admin.post(PATH).json(&new).fails(422).await;
        assert!(said.contains(named), "{new}: {said}");
    }
    assert_eq!(app.count("canonical_email_blocks").await, 1);
}

#[tokio::test]
async fn blocked_address_looks_taken_at_sign_up() {
    let app = TestApp::new().await;
    app.set("registrations_mode", "open").await;
    let admin = app.staff("admin", "Admin").await;
    block(&admin, json!({ "email": "bad.guy@mail.test" })).await;
    let client = app.application("read write").await;
    let sign_up = |name: &str, email: &str| {
        let form = json!({ "username": name, "email": email, "password": "correct horse", "agreement": true });
        client.post("/api/v1/accounts").json(&form)
    };
    for email in ["bad.guy@mail.test", "BADGUY@mail.test", "badguy+2@mail.test"] {
        let refused = sign_up("bad", email).expect(422.try_into().unwrap()).await;
        assert_eq!(refused["details"]["email"][0]["error"], "ERR_TAKEN", "{refused}");
    }
    sign_up("good", "goodguy@mail.test").ok().await;
}

#[tokio::test]
async fn canonical_email_blocks_need_permission_and_scope() {
    let app = TestApp::new().await;
    let admin = app.staff("admin", "Admin").await;
    let made = block(&admin, json!({ "email": "test@example.com" })).await;
    let path = format!("{PATH}/{}", made["id"].as_str().unwrap());
    let moderator = app.staff("moderator", "Moderator").await;
    let alice = app.account("alice").await;
    let wrong_scope = admin.with_scopes("read write admin:read:ip_blocks admin:write:ip_blocks").await;
    let application = app.application("admin:read admin:write").await;
    for client in [&moderator, &alice, &wrong_scope, &application, &app.anonymous()] {
        client.get(PATH).fails(403).await;
        client.get(&path).fails(403).await;
        client.post(&format!("{PATH}/test")).json(&json!({ "email": "test@example.com" })).fails(403).await;
        client.post(PATH).json(&json!({ "email": "a@b.test" })).fails(403).await;
        client.delete(&path).fails(403).await;
    }
    let writer = admin.with_scopes("admin:write:canonical_email_blocks").await;
    writer.post(&format!("{PATH}/test")).json(&json!({ "email": "test@example.com" })).fails(403).await;
    writer.delete(&path).ok().await;
    let entries: Vec<(String, String)> =
        app.db().fetch_raw("SELECT action, target_name FROM audit_log ORDER BY id").await.unwrap();
    let expected = ["canonical_email_block.create", "canonical_email_block.destroy"];
    assert_eq!(entries, expected.map(|action| (action.to_owned(), HASH.to_owned())));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_eight_concurrent_canonical_email_blocks_is_created() {
    let app = TestApp::new().await;
    let admin = app.staff("admin", "Admin").await;
    let new = json!({ "email": "test@example.com" });
    let running: Vec<_> = (0..8).map(|_| tokio::spawn(admin.post(PATH).json(&new).send())).collect();
    let mut statuses = Vec::new();
    for task in running {
        statuses.push(task.await.unwrap().status.as_u16());
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 422, 422, 422, 422, 422, 422, 422]);
}
