//! `/health`, `/livez`, `/readyz`, and the id of a request.

use std::sync::atomic::Ordering;

use crate::harness::TestApp;

#[tokio::test]
async fn running_server_is_live_and_ready() {
    let app = TestApp::new().await;
    for path in ["/health", "/livez", "/readyz"] {
        let answer = app.anonymous().get(path).send().await;
        assert_eq!((answer.status.as_u16(), answer.text().as_str()), (200, "OK"), "{path}");
    }
}

#[tokio::test]
async fn stopping_server_is_live_and_not_ready() {
    let app = TestApp::new().await;
    app.app.stopping.store(true, Ordering::Relaxed);
    let answer = app.anonymous().get("/readyz").send().await;
    assert_eq!((answer.status.as_u16(), answer.text().as_str()), (503, "stopping"));
    assert_eq!(app.anonymous().get("/livez").send().await.status, 200);
}

#[tokio::test]
async fn server_with_blocked_writer_is_not_ready() {
    let app = TestApp::new().await;
    let held = app.db().begin().await.unwrap();
    app.time_passes(std::time::Duration::from_millis(3_100)).await;
    let answer = app.anonymous().get("/readyz").send().await;
    if app.db().engine() == database::Engine::Sqlite {
        assert_eq!(answer.status, 503);
        assert!(answer.text().starts_with("the database has been kept from other writers for "), "{}", answer.text());
    }
    drop(held);
    assert_eq!(app.anonymous().get("/readyz").send().await.status, 200);
}

#[tokio::test]
async fn every_response_has_a_unique_id() {
    let app = TestApp::new().await;
    let first = app.anonymous().get("/health").send().await;
    let second = app.anonymous().get("/api/v1/accounts/1").send().await;
    assert!(first.header("x-request-id").len() >= 16);
    assert_ne!(first.header("x-request-id"), second.header("x-request-id"));
}

#[tokio::test]
async fn server_without_database_is_not_ready() {
    let app = TestApp::new().await;
    app.db().close().await;
    let answer = app.anonymous().get("/readyz").send().await;
    assert_eq!((answer.status.as_u16(), answer.text().as_str()), (503, "the database does not answer"));
    let answer = app.anonymous().get("/api/v1/accounts/1").send().await;
    assert_eq!(answer.status, 500);
    assert_eq!(answer.json()["request_id"], answer.header("x-request-id"));
}

#[tokio::test]
async fn core_serves_while_plugins_are_loaded() {
    let app = TestApp::new().await;
    app.app.starting.begin();
    app.app.starting.advance(3, 10);
    let ready = app.anonymous().get("/readyz").send().await;
    assert_eq!((ready.status.as_u16(), ready.text().as_str()), (503, "plugins are being loaded: 3 of 10"));
    assert_eq!(app.anonymous().get("/livez").send().await.status, 200);
    app.anonymous().get("/api/v2/instance").ok().await;
    let route = app.anonymous().get("/api/v1/antennas").send().await;
    assert_eq!((route.status.as_u16(), route.header("retry-after")), (503, "5"));
    assert!(route.json()["error"].as_str().unwrap().contains("are being loaded"), "{}", route.text());
    let page =
        app.anonymous().get("/circles").header("accept", "text/html").header("accept-language", "de").send().await;
    assert!(page.status == 503 && page.text().contains("werden gerade geladen"), "{}", page.text());

    app.app.starting.end();
    app.app.starting.advance(4, 10);
    assert_eq!(app.anonymous().get("/readyz").send().await.status, 200);
    assert_eq!(app.anonymous().get("/api/v1/antennas").send().await.status, 404);
}
