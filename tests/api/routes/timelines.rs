//! <https://docs.joinmastodon.org/methods/timelines/>: content of feeds, and their pages.

use chrono::Duration;
use serde_json::json;

use crate::harness::TestApp;

#[tokio::test]
async fn home_timeline_gets_status_by_job() {
    let app = TestApp::core().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    bob.follow(&alice).ok().await;

    let status = alice.publish_to("private", "news").await;
    assert_eq!(alice.get("/api/v1/timelines/home").ok().await[0]["id"], status["id"], "the author sees it immediately");
    app.run_jobs().await;

    assert_eq!(bob.get("/api/v1/timelines/home").ok().await[0]["id"], status["id"]);
    assert_eq!(carol.get("/api/v1/timelines/home").ok().await, json!([]));
    let reply = alice.reply(&carol.publish("q").await, "to carol").await;
    app.run_jobs().await;
    let home = bob.get("/api/v1/timelines/home").ok().await;
    assert!(
        home.as_array().unwrap().iter().all(|status| status["id"] != reply["id"]),
        "replies to strangers do not enter"
    );
}

#[tokio::test]
async fn timeline_pages_follow_their_links() {
    let app = TestApp::core().await;
    let alice = app.account("alice").await;
    let mut ids = Vec::new();
    for number in 0..7 {
        ids.insert(0, alice.publish(&format!("{number} #tag")).await["id"].clone());
    }
    for route in [
        "/api/v1/timelines/home",
        "/api/v1/timelines/public",
        "/api/v1/timelines/tag/tag",
        "/api/v1/timelines/public?local=true",
    ] {
        let join = if route.contains('?') { '&' } else { '?' };
        let mut next = format!("{route}{join}limit=3");
        let mut seen = Vec::new();
        loop {
            let answer = alice.get(&next).send().await;
            let page = answer.json();
            if page.as_array().unwrap().is_empty() {
                assert_eq!(answer.header("link"), "");
                break;
            }
            seen.extend(page.as_array().unwrap().iter().map(|status| status["id"].clone()));
            let link =
                answer.header("link").split(">; rel=\"next\"").next().unwrap().trim_start_matches('<').to_owned();
            assert!(link.contains("limit=3"), "{link}");
            next = link.strip_prefix("https://example.test").unwrap().to_owned();
        }
        assert_eq!(seen, ids, "{route}");
        let above = alice.get(&format!("{route}{join}limit=2&min_id={}", ids[4].as_str().unwrap())).ok().await;
        assert_eq!(
            (&above[0]["id"], &above[1]["id"]),
            (&ids[2], &ids[3]),
            "min_id gives the page right above, newest first"
        );
        assert_eq!(alice.get(&format!("{route}{join}limit=nonsense")).ok().await, json!([]));
        alice.get(&format!("{route}{join}max_id=nonsense")).fails(400).await;
    }
}

#[tokio::test]
async fn dropped_feed_is_rebuilt() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    bob.follow(&alice).ok().await;
    app.execute("UPDATE users SET feed_state = 'dropped'").await;
    let status = alice.publish("while you were away").await;
    app.run_jobs().await;

    let first = bob.get("/api/v1/timelines/home").send().await;
    app.run_jobs().await;
    let second = bob.get("/api/v1/timelines/home").send().await;

    assert_eq!((first.status.as_u16(), first.json()), (206, json!([])));
    assert_eq!(second.status.as_u16(), 200);
    assert_eq!(second.json()[0]["id"], status["id"]);
}

#[tokio::test]
async fn feeds_are_trimmed_and_dropped_for_inactive_accounts() {
    let app = TestApp::with(&[("ROOKERY_TIMELINES_HOME_LIMIT", "100")]).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    for number in 0..104 {
        app.app.clock.advance(chrono::Duration::seconds(60));
        alice.publish(json!({"status": number.to_string()})).await;
    }
    let tend = || async {
        let mut tx = app.app.db.begin().await.unwrap();
        context::queue::enqueue(&app.app, &mut tx, &context::queue::MaintainFeeds::begin()).await.unwrap();
        tx.commit().await.unwrap();
        app.run_jobs().await;
    };
    let entries = || async { app.count("feed_entries").await };

    tend().await;
    assert_eq!(entries().await, 100);
    app.app.clock.advance(chrono::Duration::days(8));
    bob.get("/api/v1/timelines/home").ok().await;
    tend().await;
    assert_eq!(entries().await, 0);
}

#[tokio::test]
async fn home_timeline_follows_follows() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    bob.publish("hello").await;
    app.run_jobs().await;
    let home = async || {
        app.run_jobs().await;
        alice.get("/api/v1/timelines/home").ok().await.as_array().unwrap().len()
    };
    // Entries of the feed itself: an entry that is hidden when it is read does not count as removed.
    let held = async || {
        let rows: Vec<(i64,)> = app
            .db()
            .fetch_raw(&format!("SELECT COUNT(*) FROM feed_entries WHERE kind = 0 AND owner_id = {}", alice.id()))
            .await
            .unwrap();
        rows[0].0
    };

    assert_eq!(home().await, 0);
    alice.follow(&bob).ok().await;
    assert_eq!(home().await, 1);
    alice.mute(&bob).ok().await;
    assert_eq!((home().await, held().await), (0, 0));
    alice.unmute(&bob).ok().await;
    assert_eq!(home().await, 1);
    alice.mute(&bob).form(&[("duration", "60")]).ok().await;
    assert_eq!((home().await, held().await), (0, 0));
    app.app.clock.advance(Duration::seconds(60));
    assert_eq!(home().await, 1);
    alice.unfollow(&bob).ok().await;
    assert_eq!((home().await, held().await), (0, 0));
    alice.follow(&bob).ok().await;
    assert_eq!(home().await, 1);
    bob.block(&alice).ok().await;
    assert_eq!((home().await, held().await), (0, 0));
}
