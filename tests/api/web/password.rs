//! Forgotten passwords.

use crate::harness::{Browser, PASSWORD, TestApp};

async fn ask(browser: &Browser, email: &str) -> String {
    let page = browser.get("/auth/password/new").await;
    let answer = browser.submit(&page, "/auth/password/new", &[("email", email)]).await;
    assert_eq!(answer.status, 200);
    answer.text()
}

#[tokio::test]
async fn password_reset_ends_all_sessions() {
    let app = TestApp::core().await;
    let alice = app.account("alice").await;
    let elsewhere = Browser::signed_in(&app, "alice").await;
    let browser = Browser::new(&app);

    ask(&browser, "Alice@example.test").await;
    let link = app.mailed_link().await;
    let page = browser.get(&link).await;
    assert_eq!(page.header("referrer-policy"), "no-referrer");
    let differing = [("password", "something new"), ("password_confirmation", "something else")];
    assert_eq!(browser.submit(&page, "/auth/password/edit", &differing).await.status, 422);
    let same = [("password", "something new"), ("password_confirmation", "something new")];
    assert_eq!(browser.submit(&page, "/auth/password/edit", &same).await.status, 302);

    alice.get("/api/v1/notifications").fails(401).await;
    assert_eq!(elsewhere.get("/settings").await.status, 302, "to the sign-in page");
    assert_eq!(browser.sign_in("alice", "correct horse battery").await.status, 422);
    assert_eq!(browser.sign_in("alice", "something new").await.status, 302);
    assert!(browser.get(&link).await.text().contains("no longer works"));
}

#[tokio::test]
async fn password_reset_hides_known_addresses() {
    let app = TestApp::core().await;
    app.account("alice").await;
    let browser = Browser::new(&app);

    let known = ask(&browser, "alice@example.test").await;
    let unknown = ask(&browser, "carol@example.test").await;

    assert_eq!(known.replace("alice", "carol"), unknown);
    assert_eq!(app.letters().await.len(), 1);
}

#[tokio::test]
async fn reset_link_expires_and_only_latest_works() {
    let app = TestApp::core().await;
    app.account("alice").await;
    let browser = Browser::new(&app);
    ask(&browser, "alice@example.test").await;
    let first = app.mailed_link().await;
    ask(&browser, "alice@example.test").await;
    let second = app.mailed_link().await;

    assert!(browser.get(&first).await.text().contains("no longer works"));
    assert!(browser.get(&second).await.text().contains("Choose a new password"));
    app.app.clock.advance(chrono::Duration::hours(6));
    assert!(browser.get(&second).await.text().contains("no longer works"));
}

#[tokio::test]
async fn password_change_invalidates_pending_reset_links() {
    let app = TestApp::core().await;
    app.account("alice").await;
    let browser = Browser::signed_in(&app, "alice").await;
    ask(&browser, "alice@example.test").await;
    let link = app.mailed_link().await;
    let stranger = Browser::new(&app);
    assert!(stranger.get(&link).await.text().contains("Choose a new password"));

    let page = browser.get("/settings/password").await;
    let fields = [("current_password", PASSWORD), ("password", "new words"), ("password_confirmation", "new words")];
    assert_eq!(browser.submit(&page, "/settings/password", &fields).await.status, 302);
    assert!(stranger.get(&link).await.text().contains("no longer works"));
}

#[tokio::test]
async fn reset_request_costs_same_for_known_and_unknown_address() {
    let app = TestApp::core().await;
    app.account("alice").await;
    let browser = Browser::new(&app);
    for path in ["/auth/password/new", "/auth/confirmation"] {
        let page = browser.get(path).await;
        let mut statements = Vec::new();
        for email in ["alice@example.test", "carol@example.test"] {
            let (cost, shown) = app.cost(browser.submit(&page, path, &[("email", email)])).await;
            assert_eq!(shown.status, 200);
            statements.push(cost);
        }
        assert_eq!(statements[0], statements[1], "{path}");
    }
    let jobs = app.db().fetch_raw::<(String,)>("SELECT CAST(payload AS TEXT) FROM jobs").await.unwrap();
    assert!(jobs.iter().all(|(payload,)| !payload.contains("example.test")), "the input is encrypted");
}

#[tokio::test]
async fn expired_reset_links_are_deleted() {
    let app = TestApp::core().await;
    app.account("alice").await;
    let browser = Browser::signed_in(&app, "alice").await;
    ask(&browser, "alice@example.test").await;
    let count = async || {
        let sql = "SELECT (SELECT COUNT(*) FROM web_sessions), (SELECT COUNT(*) FROM one_time_links)";
        app.db().fetch_raw::<(i64, i64)>(sql).await.unwrap()[0]
    };
    app.letters().await;
    assert_eq!(count().await, (1, 1));

    worker::cron::schedule(&app.app).await.unwrap();
    app.run_jobs().await;
    assert_eq!(count().await, (1, 1));
    app.app.clock.advance(chrono::Duration::days(15));
    app.run_jobs().await;
    assert_eq!(count().await, (0, 0));
}

#[tokio::test]
async fn form_of_another_site_is_refused() {
    let app = TestApp::core().await;
    app.account("alice").await;
    let answer = Browser::new(&app).post("/auth/password/new", &[("email", "alice@example.test")]).await;
    assert_eq!(answer.status, 403);
    assert!(app.letters().await.is_empty());
}
