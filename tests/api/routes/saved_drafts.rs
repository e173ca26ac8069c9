//! Drafts of statuses, which pages save: `service::saved_draft`.

use chrono::Duration;
use context::{Cx, Error};
use model::{Actor, Cursor, MediaId, SavedDraftId};
use serde_json::json;
use service::poll::PollDraft;
use service::saved_draft::{self, Parameters, WithMedia};
use service::status::{self, CreatedStatus, Draft};

use crate::harness::{Browser, Client, TestApp};
use crate::jobs::removal::remove;
use crate::routes::media::png;

async fn actor(client: &Client) -> Actor {
    let cx = &client.server.app;
    service::access::grants::actors(cx, &[client.id()]).await.unwrap().pop().expect("a usable account")
}

fn saying(text: &str) -> Parameters {
    Parameters { text: text.to_owned(), ..Parameters::default() }
}

async fn save(cx: &Cx, actor: &Actor, parameters: Parameters) -> SavedDraftId {
    saved_draft::save(cx, actor, None, parameters).await.unwrap().draft.id
}

async fn texts(cx: &Cx, actor: &Actor) -> Vec<String> {
    let page: Vec<WithMedia> = saved_draft::list(cx, actor.id, &Cursor::first(40)).await.unwrap();
    page.into_iter().map(|draft| draft.parameters.text).collect()
}

async fn upload(client: &Client) -> MediaId {
    let media = client.upload(&png(40, 30)).ok().await;
    media["id"].as_str().unwrap().parse::<i64>().unwrap().into()
}

async fn later(app: &TestApp, hours: i64) {
    app.app.clock.advance(Duration::hours(hours));
    app.run_jobs().await;
}

fn publication(text: &str, saved: SavedDraftId, media: &[MediaId]) -> Draft {
    Draft { text: text.to_owned(), media_ids: media.to_vec(), saved_draft_id: Some(saved), ..Draft::default() }
}

#[tokio::test]
async fn draft_is_read_back_replaced_and_deleted() {
    let app = TestApp::core().await;
    let alice = app.account("alice").await;
    let (cx, actor) = (&app.app, actor(&alice).await);
    let parent = alice.publish("a question").await;
    let parent = parent["id"].as_str().unwrap().parse::<i64>().unwrap();
    let parameters = Parameters {
        text: "half a sen".to_owned(),
        spoiler_text: "cw".to_owned(),
        sensitive: Some(true),
        visibility: Some("private".to_owned()),
        language: Some("de".to_owned()),
        in_reply_to_id: Some(parent.into()),
        quoted_status_id: Some(parent.into()),
        media_ids: vec![upload(&alice).await],
        poll: Some(PollDraft { options: vec!["only one".to_owned()], ..PollDraft::default() }),
        markdown: true,
        ..Parameters::default()
    };
    let saved = saved_draft::save(cx, &actor, None, parameters.clone()).await.unwrap();
    assert_eq!(saved.parameters, parameters);
    assert_eq!(saved.media.iter().map(|media| media.id).collect::<Vec<_>>(), parameters.media_ids);
    let id = saved.draft.id;

    app.tick();
    save(cx, &actor, saying("another")).await;
    assert_eq!(texts(cx, &actor).await, ["another", "half a sen"]);
    let older = Cursor { max_id: Some(id.into()), ..Cursor::first(40) };
    assert!(saved_draft::list(cx, actor.id, &older).await.unwrap().is_empty());
    assert_eq!(saved_draft::list(cx, actor.id, &Cursor::first(1)).await.unwrap().len(), 1);

    let replaced = saved_draft::save(cx, &actor, Some(id), saying("a sentence")).await.unwrap();
    assert_eq!((replaced.draft.id, &replaced.parameters), (id, &saying("a sentence")));
    assert!(replaced.draft.updated_at > saved.draft.updated_at && replaced.media.is_empty());

    saved_draft::delete(cx, &actor, id).await.unwrap();
    assert!(matches!(saved_draft::show(cx, &actor, id).await, Err(Error::NotFound)));
    assert!(matches!(saved_draft::delete(cx, &actor, id).await, Err(Error::NotFound)));
    assert_eq!(texts(cx, &actor).await, ["another"]);
}

#[tokio::test]
async fn draft_is_hidden_from_others() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let cx = &app.app;
    let (of_alice, of_bob) = (actor(&alice).await, actor(&bob).await);
    let media = upload(&alice).await;
    let id = save(cx, &of_alice, Parameters { media_ids: vec![media], ..saying("mine") }).await;

    assert!(matches!(saved_draft::show(cx, &of_bob, id).await, Err(Error::NotFound)));
    assert!(matches!(saved_draft::save(cx, &of_bob, Some(id), saying("his")).await, Err(Error::NotFound)));
    assert!(matches!(saved_draft::delete(cx, &of_bob, id).await, Err(Error::NotFound)));
    let taken = Parameters { media_ids: vec![media], ..saying("his") };
    assert!(matches!(saved_draft::save(cx, &of_bob, None, taken).await, Err(Error::Invalid(_))));
    status::publish(cx, &of_bob, publication("hello", id, &[]), None).await.unwrap();
    assert!(texts(cx, &of_bob).await.is_empty());
    assert_eq!(texts(cx, &of_alice).await, ["mine"]);
}

#[tokio::test]
async fn drafts_are_bounded() {
    let app = TestApp::core().await;
    let alice = app.account("alice").await;
    let (cx, actor) = (&app.app, actor(&alice).await);
    let refused = async |id, parameters| match saved_draft::save(cx, &actor, id, parameters).await {
        Err(Error::Invalid(why)) => why.into_owned(),
        other => panic!("{other:?}"),
    };
    assert!(refused(None, saying(&"a".repeat(100_001))).await.contains("100000"));
    assert!(refused(None, saying(&"🐦".repeat(50_000))).await.contains("131072"));
    let media_ids = (1..=5).map(MediaId::from).collect();
    assert!(refused(None, Parameters { media_ids, ..saying("a") }).await.contains("at most 4"));
    let missing = Parameters { media_ids: vec![MediaId::from(1)], ..saying("a") };
    assert!(refused(None, missing).await.contains("unattached"));
    assert_eq!(app.count("saved_drafts").await, 0);

    let first = save(cx, &actor, saying(&"a".repeat(100_000))).await;
    for number in 1..100 {
        save(cx, &actor, saying(&number.to_string())).await;
    }
    assert!(refused(None, saying("one more")).await.contains("limit of 100 drafts"));
    saved_draft::save(cx, &actor, Some(first), saying("shorter")).await.unwrap();
    assert_eq!(app.count("saved_drafts").await, 100);
}

#[tokio::test]
async fn publication_deletes_its_draft() {
    let app = TestApp::core().await;
    let alice = app.account("alice").await;
    let (cx, actor) = (&app.app, actor(&alice).await);
    let (used, dropped) = (upload(&alice).await, upload(&alice).await);
    let id = save(cx, &actor, Parameters { media_ids: vec![used, dropped], ..saying("look") }).await;

    // Too long: the draft stays.
    let long = publication(&"a".repeat(501), id, &[used]);
    assert!(status::publish(cx, &actor, long, None).await.is_err());
    assert_eq!(texts(cx, &actor).await, ["look"]);
    let made = status::publish(cx, &actor, publication("look", id, &[used]), None).await.unwrap();
    assert!(matches!(made, CreatedStatus::Status(_)) && texts(cx, &actor).await.is_empty());
    // Again, as from another device that still shows the draft.
    status::publish(cx, &actor, publication("look again", id, &[]), None).await.unwrap();
    assert_eq!(app.count("statuses").await, 2);

    let id = save(cx, &actor, saying("then")).await;
    let at = cx.clock.now() + Duration::hours(1);
    let made = status::publish(cx, &actor, publication("then", id, &[]), Some(at)).await.unwrap();
    assert!(matches!(made, CreatedStatus::Scheduled(_)) && texts(cx, &actor).await.is_empty());

    later(&app, 25).await;
    assert_eq!(app.count("media_attachments").await, 1, "the one of the status");
    assert_eq!(app.count("media_attachments WHERE status_id IS NOT NULL").await, 1);
}

#[tokio::test]
async fn uploads_stay_while_a_draft_names_them() {
    let app = TestApp::core().await;
    let alice = app.account("alice").await;
    let (cx, actor) = (&app.app, actor(&alice).await);
    let (one, two) = (upload(&alice).await, upload(&alice).await);
    let with = |media: &[MediaId]| Parameters { media_ids: media.to_vec(), ..saying("look") };
    let first = save(cx, &actor, with(&[one, two])).await;
    let second = save(cx, &actor, with(&[two])).await;
    later(&app, 72).await;
    assert_eq!(saved_draft::show(cx, &actor, first).await.unwrap().media.len(), 2);

    // No draft names the first upload any more, and the second draft names the other one.
    saved_draft::save(cx, &actor, Some(first), with(&[])).await.unwrap();
    later(&app, 23).await;
    assert_eq!(app.count("media_attachments").await, 2, "a day is left");
    later(&app, 2).await;
    assert_eq!(app.count("media_attachments").await, 1);
    assert_eq!(saved_draft::show(cx, &actor, second).await.unwrap().media[0].id, two);

    saved_draft::delete(cx, &actor, second).await.unwrap();
    later(&app, 25).await;
    assert_eq!(app.count("media_attachments").await, 0);
    assert_eq!(app.count("saved_draft_media").await, 0);
}

#[tokio::test]
async fn drafts_are_exported_and_removed_with_their_account() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let cx = &app.app;
    let media_ids = vec![upload(&alice).await];
    save(cx, &actor(&alice).await, Parameters { media_ids, ..saying("mine") }).await;
    let of_bob = actor(&bob).await;
    save(cx, &of_bob, saying("his")).await;
    let document = Browser::signed_in(&app, "alice").await.get("/settings/transfer/account").await.text();
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let drafts = &document["drafts"];
    assert_eq!((&drafts[0]["parameters"]["text"], drafts.as_array().unwrap().len()), (&json!("mine"), 1));

    remove(&app, "alice").await;
    app.run_jobs().await;
    assert_eq!(app.count("saved_drafts").await, 1);
    assert_eq!(app.count("saved_draft_media").await, 0);
    assert_eq!(texts(cx, &of_bob).await, ["his"]);
}
