//! Single posts: `/api/v1/admin/statuses` and `rookery status`.

use serde_json::json;

use crate::harness::TestApp;
use crate::platform::contract;

const PATH: &str = "/api/v1/admin/statuses";

#[tokio::test]
async fn staff_sees_marks_and_deletes_any_post() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let moderator = app.staff("moderator", "Moderator").await;
    let secret = alice.publish_to("private", "between us").await;
    let path = format!("{PATH}/{}", secret.id());
    bob.get(&secret.path("")).fails(404).await;
    let shown = moderator.get(&path).ok().await;
    contract::check("Status", &shown);
    assert_eq!((&shown["id"], &shown["sensitive"]), (&secret["id"], &json!(false)));
    assert!(app.run(&["status", "show", secret.id()]).await.ok().contains("between us"));

    app.tick();
    for _ in 0..2 {
        let marked = moderator.post(&format!("{path}/sensitive")).ok().await;
        contract::check("Status", &marked);
        assert_eq!(marked["sensitive"], true);
    }
    let history = alice.get(&secret.path("/history")).ok().await;
    assert_eq!(history.as_array().unwrap().len(), 2, "it is an edit, once: {history}");
    app.tick();
    app.run(&["status", "unsensitive", secret.id()]).await.ok();
    assert_eq!(alice.status(&secret).ok().await["sensitive"], false);

    moderator.delete(&path).ok().await;
    alice.status(&secret).fails(404).await;
    moderator.get(&path).fails(404).await;
    moderator.delete(&path).fails(404).await;
    assert!(app.run(&["status", "remove", secret.id()]).await.fails(1).contains("there is no post"));
    let log = app.run(&["--json", "audit", "--action", "status"]).await.list();
    let mut logged: Vec<String> = log.iter().map(|entry| format!("{} {}", entry["actor"], entry["action"])).collect();
    // Commands have a clock of their own.
    logged.sort();
    let expected =
        [r#""moderator" "status.delete""#, r#""moderator" "status.sensitive""#, r#""operator" "status.unsensitive""#];
    assert_eq!(logged, expected);
}

#[tokio::test]
async fn post_of_higher_staff_is_not_touched() {
    let app = TestApp::new().await;
    let [moderator, owner] = [app.staff("moderator", "Moderator").await, app.staff("owner", "Owner").await];
    let status = owner.publish("mine").await;
    let path = format!("{PATH}/{}", status.id());
    moderator.get(&path).ok().await;
    moderator.post(&format!("{path}/sensitive")).fails(403).await;
    moderator.delete(&path).fails(403).await;
    owner.status(&status).ok().await;
}
