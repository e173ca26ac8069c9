//! `rookery account refresh` and `rookery domain purge`.

use serde_json::json;

use super::scene::Scene;
use crate::harness::{CommandOutput, Liar};

impl Scene {
    async fn command(&self, arguments: &[&str]) -> CommandOutput {
        self.app.run_set(&Liar::KEYS, arguments).await
    }
}

#[tokio::test]
async fn refresh_fetches_profiles_again() {
    let scene = Scene::new().await;
    scene.carol.change_actor(&json!({ "name": "Carol the second" }));
    let refreshed = scene.command(&["account", "refresh", &scene.carol.address(), "--json"]).await.json();
    assert_eq!(refreshed[0], json!({ "refreshed": 1, "failed": 0 }));
    assert_eq!(scene.account(&scene.carol).await["display_name"], "Carol the second");

    scene.carol.change_actor(&json!({ "name": "Carol the third" }));
    let refreshed = scene.command(&["account", "refresh", "--domain", &scene.liar.domain, "--json"]).await.json();
    assert_eq!(refreshed[0], json!({ "refreshed": 1, "failed": 0 }));
    assert_eq!(scene.account(&scene.carol).await["display_name"], "Carol the third");
}

#[tokio::test]
async fn purge_removes_accounts_with_their_data() {
    let scene = Scene::new().await;
    let (domain, note) = (scene.liar.domain.as_str(), scene.carol.note("purged"));
    scene.receive(&note).await;
    let counted = scene.command(&["domain", "purge", domain, "--json"]).await.json();
    assert_eq!(counted[0], json!({ "domain": domain, "accounts_count": 1, "deliveries_count": 0, "purged": false }));
    assert!(scene.status(&note).await.is_some(), "only counted");

    // By the API, since commands have the real time, and their jobs another one than the test.
    let admin = scene.app.staff("admin", "Admin").await;
    let purged = admin.post("/api/v1/admin/domains/purge").json(&json!({ "domain": domain })).ok().await;
    assert_eq!((&purged["purged"], &purged["accounts_count"]), (&true.into(), &1.into()));
    for _ in 0..3 {
        scene.app.run_jobs().await;
        scene.app.app.clock.advance(chrono::TimeDelta::minutes(2));
    }
    scene.app.run_jobs().await;
    for table in ["accounts", "instances"] {
        assert_eq!(scene.app.count(&format!("{table} WHERE domain = '{domain}'")).await, 0, "{table}");
    }
    assert_eq!(scene.app.count("statuses WHERE local = false").await, 0);
    assert_eq!(scene.app.count(&format!("deliveries WHERE host = '{domain}'")).await, 0);
    assert_eq!(scene.app.count("audit_log WHERE action = 'domain.purge'").await, 1);
    assert!(scene.app.count("accounts WHERE domain IS NULL").await > 0);

    // It is not blocked.
    scene.follow(&scene.carol).await;
}

#[tokio::test]
async fn purge_of_an_unknown_or_an_own_domain_is_refused() {
    let scene = Scene::new().await;
    let admin = scene.app.staff("admin", "Admin").await;
    for domain in ["unknown.test", "localhost:3000", "not a domain", ""] {
        let answer = admin.post("/api/v1/admin/domains/purge").json(&json!({ "domain": domain })).send().await;
        assert_eq!(answer.status, 422, "{domain}: {}", answer.text());
    }
    assert_eq!(scene.app.count("audit_log").await, 0);
}
