//! Faults at the start of a server: another server on its database, and a clock that was set back.

use std::process::Stdio;

use chrono::Duration;
use database::Engine;

use crate::harness::TestApp;
use crate::platform::serve::Running;

/// Starts a server that must fail to start; returns its exit code and output.
fn refused(app: &TestApp, keys: &[(&str, &str)]) -> (Option<i32>, String) {
    let mut program = app.program();
    program.env("ROOKERY_PLUGINS_ENABLED", "false").envs(keys.iter().copied());
    program.env("ROOKERY_SERVER_LISTEN", "127.0.0.1:0").arg("serve");
    let output = program.stdout(Stdio::null()).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn second_server_on_a_sqlite_database_is_refused_and_commands_go_on() {
    let app = TestApp::new().await;
    if app.db().engine() == Engine::Postgres {
        return;
    }
    let first = Running::start(&app);
    let other = tempfile::tempdir().unwrap();

    // Also with another data folder: the shared resource is the database.
    for keys in [&[][..], &[("ROOKERY_STORAGE_DATA_DIR", other.path().to_str().unwrap())]] {
        let (code, said) = refused(&app, keys);
        assert_eq!(code, Some(1), "{said}");
        let sentence = format!("another server (process {}) serves the database", first.pid());
        assert!(said.contains(&sentence), "{said}");
    }
    app.run(&["settings", "set", "site_title", "The Old Oak"]).await.ok();
    assert!(first.get("/api/v2/instance").contains("The Old Oak"));

    drop(first);
    let next = Running::start(&app);
    assert!(next.get("/readyz").starts_with("HTTP/1.1 200"), "a killed server leaves no lock");
}

#[tokio::test(flavor = "multi_thread")]
async fn server_names_the_postgresql_that_it_cannot_reach() {
    let app = TestApp::new().await;
    let (code, said) = refused(&app, &[("ROOKERY_DATABASE_URL", "postgres://rookery:secret@127.0.0.1:1/rookery")]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("PostgreSQL at 127.0.0.1:1 (database.url) cannot be reached: "), "{said}");
    assert!(!said.contains("secret") && !said.contains("busy"), "{said}");
}

#[tokio::test]
async fn clock_set_back_by_a_day_delays_nothing_and_is_reported() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    bob.follow(&alice).ok().await;
    app.run_jobs().await;
    let before = alice.publish("before").await.into_id();

    // One second more, by which publishing advances it.
    app.app.clock.advance(-Duration::days(1) - Duration::seconds(1));
    app.app.node.check_clock().await.unwrap();
    let after = alice.publish("after").await.into_id();
    app.run_jobs().await;

    let home = bob.get("/api/v1/timelines/home").ok().await;
    let ids: Vec<&str> = home.as_array().unwrap().iter().map(|status| status["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [after.as_str(), before.as_str()], "in order, and none waits until the clock has caught up");
    let said = context::node::set_back(app.app.ids.ahead()).expect("it is noticed");
    assert!(said.starts_with("the clock of this machine is 24 h 0 min behind the newest record"), "{said}");
}

#[tokio::test]
async fn doctor_reports_clock_that_is_behind() {
    let app = TestApp::new().await;
    assert!(!app.run(&["doctor"]).await.out.contains("behind the newest record"));
    // The program uses the system clock.
    app.app.clock.advance(Duration::days(365 * 50));
    app.account("alice").await;
    let said = app.run(&["doctor"]).await;
    assert_eq!(said.code, 1);
    assert!(said.out.contains("BAD      clock") && said.out.contains("behind the newest record"), "{}", said.out);
}
