//! Several nodes on one PostgreSQL.

use std::time::Duration;

use database::Engine;
use model::job::Lane;

use super::personal::follow;
use crate::harness::TestApp;

#[tokio::test]
async fn events_of_one_node_reach_all() {
    let one = TestApp::new().await;
    if one.db().engine() == Engine::Sqlite {
        return;
    }
    let [alice, bob] = one.accounts(["alice", "bob"]).await;
    follow(&bob, &alice).await;
    let two = one.beside(&[]).await;
    [&one, &two].into_iter().for_each(|node| node.streams.hear_others());
    let (mut here, mut there) = (bob.events("user").await, bob.at(&two).events("user").await);
    // Until both nodes know each other.
    let last = loop {
        let last = alice.publish("are you there?").await.into_id();
        one.run_jobs().await;
        let heard = tokio::time::timeout(Duration::from_millis(500), there.next()).await;
        if heard.is_ok_and(|event| event.unwrap().json()["id"] == last) {
            break last;
        }
    };
    while here.next().await.unwrap().json()["id"] != last.as_str() {}

    let mut ids = Vec::new();
    for number in 0..20 {
        ids.push(alice.publish(&format!("number {number}")).await.into_id());
        one.run_jobs().await;
    }
    for events in [&mut here, &mut there] {
        for id in &ids {
            assert_eq!(events.next().await.unwrap().json()["id"], id.as_str(), "each once, in order");
        }
    }
    // A revocation by another node ends connections here.
    let other = bob.at(&two).with_scopes("read").await;
    let events = other.at(&one).events("user").await;
    let id = two.number("SELECT max(id) FROM oauth_tokens").await;
    service::oauth::revoke::one(&two.app, id.into()).await.unwrap();
    assert!(events.rest().await.contains(":The access token is not valid any more"));
    alice.publish("others stay open").await;
    one.run_jobs().await;
    assert_eq!(here.next().await.unwrap().name, "update");
}

#[tokio::test]
async fn nodes_with_workers_are_notified_of_jobs_queued_by_others() {
    let one = TestApp::new().await;
    if one.db().engine() == Engine::Sqlite {
        return;
    }
    let [alice] = one.accounts(["alice"]).await;
    let two = one.beside(&[("ROOKERY_JOBS_WORKERS", "0")]).await;
    one.streams.hear_others();
    let (_stop, stopped) = tokio::sync::watch::channel(false);
    tokio::spawn(worker::run(context::Cx::clone(&two.app), stopped));
    let there = alice.at(&two);
    // The other node does not listen immediately.
    for _ in 0..120 {
        let queued = one.db().jobs_queued(Lane::Feed);
        tokio::pin!(queued);
        queued.as_mut().enable();
        there.publish("who works here?").await;
        if tokio::time::timeout(Duration::from_millis(500), queued).await.is_ok() {
            return;
        }
    }
    panic!("no worker was notified");
}

#[tokio::test]
async fn streams_of_node_after_long_outage_report_missed_events() {
    let app = TestApp::new().await;
    if app.db().engine() == Engine::Sqlite {
        return;
    }
    app.streams.hear_others();
    let alice = app.account("alice").await;
    let events = alice.events("user").await;
    let said = || app.db().fetch_raw::<(i64,)>("SELECT COUNT(*) FROM listening_nodes");
    while said().await.unwrap()[0].0 == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    app.app.clock.advance(chrono::Duration::seconds(60));
    assert!(events.rest().await.contains(":Some events were missed"));
}
