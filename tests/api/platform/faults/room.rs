//! A database that cannot be written: the disk is full, or it is read-only.

use database::Engine;

use super::{published, until_ready};
use crate::harness::TestApp;

const FULL: &str = "The disk of this server is full: nothing can be saved until there is room, reading still works";
const READ_ONLY: &str = "The database is read-only: nothing can be saved, reading still works";

/// Makes all inserts on PostgreSQL fail with the error `state`.
async fn refuse_inserts(app: &TestApp, state: &str) {
    let function = format!(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '{state}'; END $$"
    );
    app.execute(&function).await;
    for table in ["statuses", "write_trials"] {
        let trigger = format!("CREATE TRIGGER refuse BEFORE INSERT ON {table} EXECUTE FUNCTION refuse()");
        app.execute(&trigger).await;
    }
}

async fn fill(app: &TestApp) {
    match app.db().engine() {
        // No pages beyond the existing ones.
        Engine::Sqlite => app.execute("PRAGMA max_page_count = 1").await,
        Engine::Postgres => refuse_inserts(app, "53100").await,
    }
}

async fn make_read_only(app: &TestApp) {
    match app.db().engine() {
        Engine::Sqlite => app.execute("PRAGMA query_only = true").await,
        Engine::Postgres => refuse_inserts(app, "25006").await,
    }
}

async fn repair(app: &TestApp) {
    match app.db().engine() {
        Engine::Sqlite => {
            app.execute("PRAGMA max_page_count = 1000000; PRAGMA query_only = false").await;
        }
        Engine::Postgres => app.execute("DROP FUNCTION refuse CASCADE").await,
    }
}

/// Publishes until a request fails; returns the acknowledged texts, newest first, and the status and text of the
/// error.
async fn publish_until_refused(person: &crate::harness::Client) -> (Vec<String>, u16, String) {
    let mut acknowledged = Vec::new();
    // Free pages may hold a few statuses.
    for number in 0..500 {
        let text = format!("{number} {}", "long ".repeat(80));
        let answer = person.post("/api/v1/statuses").form(&[("status", &text)]).send().await;
        if answer.status != 200 {
            return (acknowledged, answer.status.as_u16(), answer.error().unwrap());
        }
        acknowledged.insert(0, answer.json()["content"].as_str().unwrap().to_owned());
    }
    panic!("no request was refused");
}

#[tokio::test]
async fn full_disk_refuses_changes_with_507_until_there_is_room() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    app.known(&alice).await;

    fill(&app).await;
    let (mut acknowledged, status, said) = publish_until_refused(&alice).await;
    assert_eq!((status, said.as_str()), (507, FULL));
    let again = alice.post("/api/v1/statuses").form(&[("status", &"again ".repeat(80))]).fails(507).await;
    assert_eq!(again, FULL);
    let ready = app.anonymous().get("/readyz").send().await;
    assert_eq!((ready.status.as_u16(), ready.text().as_str()), (503, FULL));
    assert_eq!(app.anonymous().get("/livez").send().await.status, 200);
    assert_eq!(published(&alice).await, acknowledged, "reads still work");

    repair(&app).await;
    alice.publish("there is room").await;
    acknowledged.insert(0, "<p>there is room</p>".to_owned());
    assert_eq!(published(&alice).await, acknowledged, "acknowledged statuses exist, and no others");
    until_ready(&app).await;
}

#[tokio::test]
async fn read_only_database_refuses_changes_with_a_sentence() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    app.known(&alice).await;
    let before = alice.publish("before").await.into_id();

    make_read_only(&app).await;
    assert_eq!(alice.post("/api/v1/statuses").form(&[("status", "no")]).fails(503).await, READ_ONLY);
    let ready = app.anonymous().get("/readyz").send().await;
    assert_eq!((ready.status.as_u16(), ready.text().as_str()), (503, READ_ONLY));
    alice.status(&before).ok().await;

    repair(&app).await;
    alice.publish("after").await;
    until_ready(&app).await;
}

#[tokio::test]
async fn jobs_wait_for_disk_space_without_dead_letters() {
    let app = TestApp::with(&[("ROOKERY_JOBS_MAX_ATTEMPTS", "1")]).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    bob.follow(&alice).ok().await;
    app.run_jobs().await;
    app.known(&bob).await;
    let seen = alice.publish("hello").await.into_id();

    // Feeds are rows like any others.
    match app.db().engine() {
        Engine::Sqlite => app.execute("PRAGMA query_only = true").await,
        Engine::Postgres => {
            refuse_inserts(&app, "53100").await;
            let trigger = "CREATE TRIGGER refuse BEFORE INSERT ON feed_entries EXECUTE FUNCTION refuse()";
            app.execute(trigger).await;
        }
    }
    let _ = worker::drain(&app.app).await;
    repair(&app).await;
    app.app.clock.advance(chrono::Duration::minutes(1));
    app.run_jobs().await;

    let home = bob.get("/api/v1/timelines/home").ok().await;
    assert_eq!(home[0]["id"], *seen);
    let dead: Vec<(i64,)> = app.db().fetch_raw("SELECT id FROM jobs WHERE state = 'dead'").await.unwrap();
    assert!(dead.is_empty(), "{dead:?}");
}
