//! Reports of other servers that are not filed, or only in part.

use serde_json::{Value, json};

use super::Scene;
use crate::harness::liar::with;
use crate::harness::{Liar, id};

impl Scene {
    /// Sends Mallory's report of `objects`, and returns what became of it.
    async fn reports(&self, objects: &Value) -> String {
        let flag = with(self.mallory.activity("Flag", objects.clone()), &json!({ "content": "look at this" }));
        self.send(&self.mallory, &flag).await
    }
}

#[tokio::test]
async fn report_is_about_accounts_and_statuses_of_this_server() {
    let scene = Scene::new().await;
    let far = Liar::start().await.person("far");
    scene.find(&far).await;
    let status = scene.alice.publish("hello").await;
    let third = json!([far.uri, far.liar.url("/users/far/notes/1")]);
    for nobody in [third, json!([]), json!("https://example.org/x"), json!([scene.alice_uri("/nobody")])] {
        assert_eq!(scene.reports(&nobody).await, "Flag unknown_target", "{nobody}");
    }
    assert_eq!(scene.app.count("reports").await, 0);

    // By a status alone, and with more ids than anyone reads.
    let mut many: Vec<Value> = vec![status["uri"].clone(), json!(far.uri)];
    many.extend((0..9_000).map(|number| json!(format!("http://localhost:3000/users/alice/statuses/{number}"))));
    assert_eq!(scene.reports(&json!(many)).await, "Flag ok");
    let more: Vec<String> = (0..10_001).map(|number| scene.alice_uri(&format!("/statuses/{number}"))).collect();
    let too_many = scene.mallory.letter(&scene.app, &scene.mallory.activity("Flag", json!(more)));
    assert_eq!(too_many.send(&scene.app).await.status, 400, "beyond the bound of values of a document");
    let sql = "SELECT id FROM reports";
    let reports = scene.app.db().fetch_raw::<(i64,)>(sql).await.unwrap();
    assert_eq!(reports.len(), 1, "not about the account of a third server");
    let named =
        scene.app.count(&format!("reports WHERE status_ids = '[\"{0}\"]' OR status_ids = '[{0}]'", id(&status))).await;
    assert_eq!(named, 1);
    // Null characters and long texts are cut.
    let long = with(
        scene.mallory.activity("Flag", json!([scene.alice_uri("")])),
        &json!({ "content": format!("a\0{}", "b".repeat(9_000)), "category": "spam" }),
    );
    assert_eq!(scene.send(&scene.mallory, &long).await, "Flag ok");
    assert_eq!(scene.app.count("reports WHERE length(comment) = 5000 AND category = 'spam'").await, 1);
    assert_eq!(
        scene.send(&scene.mallory, &with(long, &json!({ "published": "2026-01-01T00:00:00Z" }))).await,
        "Flag known_report"
    );
}

#[tokio::test]
async fn flood_of_reports_of_one_domain_is_bounded() {
    let scene = Scene::new().await;
    let honest = Liar::start().await.person("honest");
    let alice = json!([scene.alice_uri("")]);
    let mut results = Vec::new();
    for _ in 0..102 {
        results.push(scene.reports(&alice).await);
    }
    assert_eq!(results.iter().filter(|result| *result == "Flag ok").count(), 100);
    assert_eq!(results[101], "Flag too_many_reports");
    let flag = with(honest.activity("Flag", alice.clone()), &json!({ "content": "spam" }));
    assert_eq!(scene.send(&honest, &flag).await, "Flag ok", "others are heard");
}

#[tokio::test]
async fn reports_of_a_domain_can_be_rejected() {
    let scene = Scene::new().await;
    scene.app.run(&["domain", "block", &scene.liar.domain, "--severity", "noop", "--reject-reports"]).await.ok();
    scene.app.app.reload().await.unwrap();
    assert_eq!(scene.reports(&json!([scene.alice_uri("")])).await, "Flag reports_rejected");
    assert_eq!(scene.app.count("reports").await, 0);
}
