//! <https://docs.joinmastodon.org/methods/markers/>

use model::marker::MarkedTimeline;
use serde_json::json;

use crate::harness::TestApp;
use crate::platform::contract::check;

#[tokio::test]
async fn marker_counts_its_changes() {
    let app = TestApp::core().await;
    let alice = app.account("alice").await;
    assert_eq!(alice.get("/api/v1/markers?timeline[]=home").ok().await, json!({}));

    let first = alice.post("/api/v1/markers").form(&[("home[last_read_id]", "9007199254740993")]).ok().await;
    check("Markers", &first);
    assert_eq!(
        first,
        json!({"home": {"last_read_id": "9007199254740993", "version": 1, "updated_at": "2026-01-15T12:00:01.000Z"}})
    );
    app.tick();
    let same = alice.post("/api/v1/markers").json(&json!({"home": {"last_read_id": "9007199254740993"}})).ok().await;
    assert_eq!(same, first);
    let back =
        json!({"home": {"last_read_id": 5}, "notifications": {"last_read_id": "7"}, "tv": {"last_read_id": "1"}});
    let moved = alice.post("/api/v1/markers").json(&back).ok().await;
    assert_eq!((&moved["home"]["version"], &moved["home"]["last_read_id"]), (&json!(2), &json!("5")));
    assert_eq!(moved["notifications"]["version"], 1);

    let both = alice.get("/api/v1/markers?timeline[]=home&timeline[]=notifications&timeline[]=tv").ok().await;
    assert_eq!(both, moved);
    assert_eq!(alice.get("/api/v1/markers?timeline=notifications").ok().await.as_object().unwrap().len(), 1);
    assert_eq!(alice.get("/api/v1/markers").ok().await, json!({}));
    assert_eq!(alice.post("/api/v1/markers").ok().await, json!({}));
}

#[tokio::test]
async fn marker_moved_meanwhile_is_not_overwritten() {
    let app = TestApp::core().await;
    let alice = app.account("alice").await;
    alice.post("/api/v1/markers").form(&[("home[last_read_id]", "1")]).ok().await;
    alice.post("/api/v1/markers").form(&[("home[last_read_id]", "2")]).ok().await;

    let now = app.app.clock.now();
    let mut tx = app.db().begin().await.unwrap();
    assert!(!store::marker::update(&mut tx, alice.id(), MarkedTimeline::Home, 1, 3, now).await.unwrap());
    assert!(!store::marker::insert(&mut tx, alice.id(), MarkedTimeline::Home, 3, now).await.unwrap());
}

#[tokio::test]
async fn markers_are_private_and_well_formed() {
    let app = TestApp::core().await;
    let alice = app.account("alice").await;
    app.anonymous().get("/api/v1/markers").fails(401).await;
    alice.with_scopes("read:accounts").await.get("/api/v1/markers").fails(403).await;
    alice.with_scopes("read").await.post("/api/v1/markers").fails(403).await;
    for bad in ["x", "-1", "99999999999999999999"] {
        alice.post("/api/v1/markers").form(&[("home[last_read_id]", bad)]).fails(422).await;
    }
    alice.post("/api/v1/markers").form(&[("home", "1")]).fails(422).await;
    assert_eq!(alice.get("/api/v1/markers?timeline[]=home").ok().await, json!({}));
}
