//! The parts of a plugin have separate budgets: routes over their budget do not stop hooks.

use std::sync::Arc;
use std::time::Duration;

use database::Engine;
use database::confined::{ConfinedError, Lane, Limits, Scope};
use plugins::Active;
use rookery_plugin_host::Part;
use serde_json::json;

use super::guest;
use super::sql::notes;
use crate::harness::TestApp;

fn active(app: &TestApp, name: &str) -> Arc<Active> {
    Arc::clone(app.plugins().registry().find(name).unwrap())
}

#[tokio::test]
async fn routes_that_used_up_their_time_leave_posting_alone() {
    let app = guest::serve("hostile", &[]).await;
    let [alice] = app.accounts(["alice"]).await;
    alice.get("/api/v1/hostile/known").ok().await;
    active(&app, "hostile").component.used_database(Part::Routes, Duration::from_secs(21));
    let refused = alice.get("/api/v1/hostile/known").send().await;
    assert_eq!((refused.status.as_u16(), &refused.json()["error_code"]), (503, &json!("plugin.unavailable")));
    alice.publish("words").await;
}

#[tokio::test]
async fn filters_that_used_up_their_time_leave_routes_alone() {
    let app = guest::serve("hostile", &[]).await;
    let [alice] = app.accounts(["alice"]).await;
    for part in [Part::Filters, Part::Jobs, Part::Decorations] {
        active(&app, "hostile").component.used_database(part, Duration::from_secs(21));
    }
    alice.get("/api/v1/hostile/known").ok().await;
    alice.post("/api/v1/statuses").json(&json!({ "status": "words" })).fails(503).await;
    let breakers = active(&app, "hostile").component.breakers();
    let opened: Vec<&str> =
        breakers.iter().filter(|report| report.kind == "database").map(|report| report.name.as_str()).collect();
    assert_eq!(opened, ["decorations", "filters", "jobs"]);
}

/// Reads on `lane`: a short statement, or one that takes longer than the test.
async fn read(app: &TestApp, lane: Lane, long: bool) -> Result<(), ConfinedError> {
    const LIMITS: Limits = Limits { time: Duration::from_secs(60), rows: 10, bytes: 1 << 20 };
    let scope = Arc::new(Scope::find(app.db(), "notes", std::collections::BTreeSet::default()).await.unwrap());
    let notes = if app.db().engine() == Engine::Sqlite { "p_notes__notes" } else { "notes" };
    let text = match long {
        true => format!(
            "SELECT count(*) AS n FROM {notes} a, {notes} b, {notes} c, {notes} d, {notes} e WHERE a.id + b.id + c.id + d.id + e.id < 0"
        ),
        false => format!("SELECT count(*) AS n FROM {notes}"),
    };
    app.db().confined_in(lane, &scope, &text.into(), vec![], &LIMITS).await.map(drop)
}

#[tokio::test]
async fn filters_read_while_routes_occupy_their_connections() {
    let app = TestApp::new().await;
    notes(&app).await;
    let table = if app.db().engine() == Engine::Sqlite { "p_notes__notes" } else { "p_notes.notes" };
    let rows: Vec<String> = (0..500).map(|number| format!("(1, 'note {number}')")).collect();
    app.execute(&format!("INSERT INTO {table} (account_id, title) VALUES {}", rows.join(", "))).await;
    let connections = app.app.config.plugins.database_connections;
    let long = async { futures_util::future::join_all((0..connections).map(|_| read(&app, Lane::Usual, true))).await };
    let meanwhile = async {
        while read(&app, Lane::Usual, false).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        read(&app, Lane::Filters, false).await
    };
    let read = tokio::select! {
        ended = long => panic!("the long statements ended: {ended:?}"),
        read = meanwhile => read,
    };
    assert_eq!(read, Ok(()));
}
