//! Public timelines and hashtags.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::personal::follow;
use crate::harness::{Client, Event, Events, TestApp};

/// Public streams of an account, by channel.
struct Listener {
    streams: BTreeMap<&'static str, Events>,
    /// Author of the last status, which arrives after all earlier events.
    last: Client,
}

/// The hashtag `cat` in another spelling.
const CAT: &str = "hashtag?tag=%EF%BC%A3%C3%A1t";
const LOCAL_CAT: &str = "hashtag/local?tag=CAT";
const CHANNELS: [&str; 7] = [
    "public",
    "public?only_media=true",
    "public/local",
    "public/local?only_media=1",
    CAT,
    LOCAL_CAT,
    "hashtag?tag=dog",
];

impl Listener {
    async fn new(person: &Client, last: &Client) -> Self {
        let mut streams = BTreeMap::new();
        for channel in CHANNELS {
            streams.insert(channel, person.events(channel).await);
        }
        Self { streams, last: last.clone() }
    }

    /// Events of each channel since the previous call. Publishes a status that marks their end.
    async fn told(&mut self) -> BTreeMap<&'static str, Vec<Event>> {
        let file = ("file", "a.png", include_bytes!("../../../src/http/web/assets/icon-32.png").as_slice());
        let media = self.last.post("/api/v2/media").multipart(&[], &[file]).ok().await;
        let end = json!({ "status": "the end #cat #dog", "media_ids": [media["id"]], "language": "de" });
        let end = self.last.publish(end).await.into_id();
        let mut told = BTreeMap::new();
        for (channel, events) in &mut self.streams {
            let mut before = Vec::new();
            loop {
                let event = events.next().await.expect("an open stream");
                if event.name == "update" && event.json()["id"] == end {
                    break;
                }
                before.push(event);
            }
            if !before.is_empty() {
                told.insert(*channel, before);
            }
        }
        told
    }
}

async fn choose_languages(person: &Client, languages: &[&str]) {
    let chosen = languages.iter().map(ToString::to_string).collect();
    person.server.prefer(person, |preferences| preferences.chosen_languages = chosen).await;
}

async fn heard(listener: &mut Listener) -> Vec<&'static str> {
    listener.told().await.into_keys().collect()
}

#[tokio::test]
async fn each_channel_has_its_part_of_the_public_timeline() {
    let app = TestApp::new().await;
    let [alice, bob, last] = app.accounts(["alice", "bob", "last"]).await;
    let mut listener = Listener::new(&bob, &last).await;

    alice.publish("plain").await;
    assert_eq!(heard(&mut listener).await, ["public", "public/local"]);
    for visibility in ["public_unlisted", "login"] {
        alice.publish(json!({ "status": "#cát", "visibility": visibility })).await;
        let told = listener.told().await;
        assert_eq!(told.keys().copied().collect::<Vec<_>>(), [LOCAL_CAT, CAT, "public", "public/local"]);
        assert_eq!(told["public"][0].json()["visibility_ex"], visibility);
    }
    let unlisted = json!({ "status": "#cat", "visibility": "unlisted" });
    alice.publish(unlisted.clone()).await;
    assert!(heard(&mut listener).await.is_empty());
    let found = json!({ "status": "#cat", "visibility": "unlisted", "searchability": "public" });
    alice.publish(found).await;
    assert_eq!(heard(&mut listener).await, [LOCAL_CAT, CAT]);
    for visibility in ["private", "direct"] {
        alice.publish(json!({ "status": "@bob #cat", "visibility": visibility })).await;
    }
    let id = last.publish("boosted").await.into_id();
    listener.told().await;
    alice.reblog(&id).ok().await;
    alice.reply(&id, "a reply").await;
    app.run_jobs().await;
    assert!(heard(&mut listener).await.is_empty());
    let own = alice.publish("first").await.into_id();
    alice.reply(&own, "and second").await;
    assert_eq!(listener.told().await["public"].len(), 2, "replies to oneself");
}

#[tokio::test]
async fn edits_and_deletions_are_sent_to_channels_of_the_status() {
    let app = TestApp::new().await;
    let [alice, bob, last] = app.accounts(["alice", "bob", "last"]).await;
    let mut listener = Listener::new(&bob, &last).await;
    let id = alice.publish("#cat").await.into_id();
    listener.told().await;
    alice.edit(&id, "#cat!").ok().await;
    let told = listener.told().await;
    assert_eq!(told["public"][0].name, "status.update");
    assert!(told[CAT][0].json()["content"].as_str().unwrap().contains('!'));
    alice.delete_status(&id).ok().await;
    let told = listener.told().await;
    let gone = Event { name: "delete".to_owned(), payload: id };
    for channel in ["public", "public/local", CAT, LOCAL_CAT] {
        assert_eq!(told[channel], std::slice::from_ref(&gone), "{channel}");
    }
    assert!(!told.contains_key("public?only_media=true"));
}

#[tokio::test]
async fn public_stream_differs_only_by_filters() {
    let app = TestApp::new().await;
    let [alice, bob, eve, last] = app.accounts(["alice", "bob", "eve", "last"]).await;
    let filter = |action: &str| {
        json!({ "title": "T", "context": ["home"], "filter_action": action,
                "keywords_attributes": [{ "keyword": "spoiler", "whole_word": true }] })
    };
    bob.post("/api/v2/filters").json(&filter("hide")).ok().await;
    let (mut bobs, mut eves) = (Listener::new(&bob, &last).await, Listener::new(&eve, &last).await);
    let id = alice.publish("a spoiler").await.into_id();
    let (filtered, plain) = (bobs.told().await, eves.told().await);
    let (filtered, mut plain) = (filtered["public"][0].json(), plain["public"][0].json());
    assert_eq!(filtered["filtered"][0]["keyword_matches"], json!(["spoiler"]));
    assert_eq!(filtered["filtered"][0]["status_matches"], Value::Null);
    assert_eq!(plain["filtered"], json!([]));
    plain.as_object_mut().unwrap().remove("filtered");
    assert_eq!(plain, app.anonymous().status(&id).ok().await);
}

#[tokio::test]
async fn languages_blocks_and_mutes_apply() {
    let app = TestApp::new().await;
    let [alice, bob, eve, last] = app.accounts(["alice", "bob", "eve", "last"]).await;
    let mut listener = Listener::new(&bob, &last).await;
    follow(&bob, &alice).await;
    let english = json!({ "status": "some words", "language": "en" });
    choose_languages(&bob, &["de"]).await;
    alice.publish(english.clone()).await;
    alice.publish(json!({ "status": "ein Wort", "language": "de" })).await;
    let told = listener.told().await;
    let languages: Vec<Value> = told["public"].iter().map(|event| event.json()["language"].clone()).collect();
    assert!(languages.iter().all(|language| language == "de"), "{languages:?}");
    choose_languages(&bob, &[]).await;

    for (act, undo) in [("block", "unblock"), ("mute", "unmute")] {
        bob.post(&format!("/api/v1/accounts/{}/{act}", alice.id())).ok().await;
        alice.publish(english.clone()).await;
        eve.publish("I know @alice").await;
        assert!(heard(&mut listener).await.is_empty(), "{act}");
        bob.post(&format!("/api/v1/accounts/{}/{undo}", alice.id())).ok().await;
        alice.publish(english.clone()).await;
        assert_eq!(heard(&mut listener).await, ["public", "public/local"], "{undo}");
    }
    alice.block(&bob).ok().await;
    alice.publish(english).await;
    assert!(heard(&mut listener).await.is_empty());
}
