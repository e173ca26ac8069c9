//! <https://docs.joinmastodon.org/methods/filters/>

use axum::http::StatusCode;
use chrono::Duration;
use serde_json::{Value, json};

use crate::harness::{Client, TestApp, status_path};
use crate::platform::contract;
use crate::routes::media::png;

pub(super) const FILTERS: &str = "/api/v2/filters";
const HOME: &str = "/api/v1/timelines/home";

/// Creates a filter with these keywords and `more` members.
async fn filter(owner: &Client, keywords: &[&str], more: Value) -> String {
    let keywords: Vec<Value> =
        keywords.iter().map(|keyword| json!({ "keyword": keyword, "whole_word": false })).collect();
    let mut body = json!({ "title": "birds", "context": ["home"], "keywords_attributes": keywords });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let made = owner.post(FILTERS).json(&body).ok().await;
    contract::check("Filter", &made);
    made["id"].as_str().unwrap().to_owned()
}

/// Filter results of `status` for `viewer`: title, keyword, status.
async fn results(viewer: &Client, status: &str) -> Vec<Value> {
    let status = viewer.status(&status).ok().await;
    contract::check("FilterResult[]", &status["filtered"]);
    status["filtered"].as_array().unwrap().clone()
}

async fn is_filtered(viewer: &Client, status: &str) -> bool {
    !results(viewer, status).await.is_empty()
}

/// All statuses in `document`.
fn statuses(document: &Value) -> Vec<&Value> {
    let inner = match document {
        Value::Array(list) => list.iter().flat_map(statuses).collect(),
        Value::Object(members) => members.values().flat_map(statuses).collect(),
        _ => Vec::new(),
    };
    let own = document.get("reblogs_count").is_some().then_some(document);
    own.into_iter().chain(inner).collect()
}

#[tokio::test]
async fn filters_mark_statuses_on_every_path_and_remove_none() {
    let app = TestApp::core().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    for author in [&bob, &carol] {
        alice.follow(&author).ok().await;
    }
    let status = bob.publish("@alice a Rook! #birds").await.into_id();
    carol.reblog(&status).ok().await;
    for act in ["/bookmark", "/favourite"] {
        alice.post(&status_path(&status, act)).ok().await;
    }
    let answer = carol.reply(&status, "rooks? @bob").await.into_id();
    app.run_jobs().await;
    filter(&alice, &["rook"], json!({ "context": ["notifications"] })).await;
    let id = bob.id();
    for path in [
        HOME.to_owned(),
        "/api/v1/timelines/public".to_owned(),
        "/api/v1/timelines/tag/birds".to_owned(),
        "/api/v1/bookmarks".to_owned(),
        "/api/v1/favourites".to_owned(),
        "/api/v1/notifications".to_owned(),
        format!("/api/v1/accounts/{id}/statuses"),
        format!("/api/v1/accounts/{}/statuses", carol.id()),
        status_path(&status, ""),
        status_path(&status, "/context"),
        status_path(&answer, "/context"),
        format!("/api/v1/statuses?id[]={status}&id[]={answer}"),
        format!("/api/v2/search?q=https://example.test/@bob/{status}&resolve=true"),
    ] {
        let document = alice.get(&path).ok().await;
        let found = statuses(&document);
        assert!(!found.is_empty(), "{path}");
        for status in found {
            contract::check("FilterResult[]", &status["filtered"]);
            let [result] = status["filtered"].as_array().unwrap().as_slice() else { panic!("{path}: {status}") };
            assert_eq!(result["filter"]["title"], "birds", "{path}");
            assert!(result["filter"].get("keywords").is_none() && result["filter"].get("statuses").is_none());
            let text = result["keyword_matches"][0].as_str().unwrap();
            assert_eq!((text.to_lowercase().as_str(), &result["status_matches"]), ("rook", &json!(null)), "{path}");
        }
    }
    for act in ["/unfavourite", "/favourite", "/mute"] {
        assert_eq!(alice.post(&status_path(&status, act)).ok().await["filtered"].as_array().unwrap().len(), 1, "{act}");
    }
    assert_eq!(bob.status(&status).ok().await["filtered"], json!([]), "filters are one's own");
    assert!(app.anonymous().status(&status).ok().await.get("filtered").is_none());
    let of_carol = alice.get(&format!("/api/v1/accounts/{}/statuses", carol.id())).ok().await;
    let reblog = of_carol.as_array().unwrap().iter().find(|status| status["reblog"].is_object()).unwrap();
    assert_eq!(reblog["filtered"], reblog["reblog"]["filtered"]);
}

#[tokio::test]
async fn filter_matches_warning_text_and_descriptions() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let media = bob.upload_with(&png(8, 8), &[("description", "A jackdaw in a tree")]).ok().await;
    let status = bob
        .publish(json!({ "status": "Two\ncrows <b>&amp;", "spoiler_text": "Magpies", "media_ids": [media["id"]] }))
        .await
        .into_id();
    for (keyword, found) in
        [("MAGPIE", true), ("jackdaw", true), ("crows <b>&", true), ("<p>", false), ("invisible", false)]
    {
        let id = filter(&alice, &[keyword], json!({})).await;
        assert_eq!(is_filtered(&alice, &status).await, found, "{keyword}");
        alice.delete(&format!("{FILTERS}/{id}")).ok().await;
    }
    filter(&alice, &["crow", "jackdaw", "magpie"], json!({})).await;
    assert_eq!(results(&alice, &status).await[0]["keyword_matches"], json!(["Magpie"]), "the first alone");
}

#[tokio::test]
async fn edited_status_is_filtered_again() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    filter(&alice, &["rook"], json!({})).await;
    let status = bob.publish("a crow").await.into_id();
    assert!(!is_filtered(&alice, &status).await);
    bob.edit(&status, "a rook").ok().await;
    assert!(is_filtered(&alice, &status).await);
}

#[tokio::test]
async fn expired_filter_is_listed_and_marks_nothing() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = bob.publish("a rook").await.into_id();
    let id = filter(&alice, &["rook"], json!({ "expires_in": "3600" })).await;
    assert!(is_filtered(&alice, &status).await);
    app.app.clock.advance(Duration::seconds(3600));
    assert!(!is_filtered(&alice, &status).await);
    assert_eq!(alice.get(FILTERS).ok().await[0]["id"], json!(id));

    let path = format!("{FILTERS}/{id}");
    let kept = alice.put(&path).json(&json!({ "title": "still" })).ok().await;
    assert!(kept["expires_at"].is_string(), "omitted values stay");
    let now = alice.patch(&path).form(&[("expires_in", "")]).ok().await;
    assert_eq!(now["expires_at"], json!(null));
    assert!(is_filtered(&alice, &status).await);
}

#[tokio::test]
async fn keywords_are_added_changed_and_deleted_together() {
    let app = TestApp::core().await;
    let alice = app.account("alice").await;
    let id = filter(&alice, &["one", "two", ""], json!({})).await;
    let path = format!("{FILTERS}/{id}");
    let before = alice.get(&path).ok().await;
    let [one, two] = [0, 1].map(|index| before["keywords"][index]["id"].as_str().unwrap().to_owned());
    assert_eq!(before["keywords"].as_array().unwrap().len(), 2, "blank keywords are ignored");

    let wrong = json!({ "title": "changed", "keywords_attributes": [{ "id": one, "_destroy": true }, { "id": "1" }] });
    alice.put(&path).json(&wrong).fails(404).await;
    let wrong = json!({ "title": "changed", "keywords_attributes": [{ "id": one, "_destroy": "1" }, { "id": two, "keyword": "" }] });
    alice.put(&path).json(&wrong).fails(422).await;
    assert_eq!(alice.get(&path).ok().await, before, "all or nothing");
    let taken = json!({ "title": "more", "context": ["home"], "keywords_attributes": [{ "id": two, "keyword": "x" }] });
    alice.post(FILTERS).json(&taken).fails(404).await;
    assert_eq!(alice.get(FILTERS).ok().await, json!([before]), "a new filter takes no keyword of another");

    let pairs = [
        ("keywords_attributes[][id]", one.as_str()),
        ("keywords_attributes[][_destroy]", "true"),
        ("keywords_attributes[][id]", two.as_str()),
        ("keywords_attributes[][whole_word]", "true"),
        ("keywords_attributes[][whole_word]", "false"),
        ("keywords_attributes[][keyword]", "three"),
    ];
    let after = alice.put(&path).form(&pairs).ok().await;
    let words: Vec<(&str, bool)> = after["keywords"]
        .as_array()
        .unwrap()
        .iter()
        .map(|keyword| (keyword["keyword"].as_str().unwrap(), keyword["whole_word"].as_bool().unwrap()))
        .collect();
    assert_eq!(words, [("two", true), ("three", false)]);
}

#[tokio::test]
async fn keyword_is_the_same_on_both_routes() {
    let app = TestApp::core().await;
    let alice = app.account("alice").await;
    let id = filter(&alice, &[], json!({})).await;
    let one = alice.post(&format!("{FILTERS}/{id}/keywords")).json(&json!({ "keyword": "one" })).ok().await;
    alice.post(&format!("{FILTERS}/{id}/keywords/anything")).json(&json!({ "keyword": "two" })).ok().await;
    let one = one["id"].as_str().unwrap();
    for version in ["v1", "v2"] {
        let path = format!("/api/{version}/filters/keywords/{one}");
        let changed = alice.patch(&path).json(&json!({ "keyword": version, "whole_word": true })).ok().await;
        assert_eq!(changed, alice.get(&path).ok().await);
        assert_eq!(changed, json!({ "id": one, "keyword": version, "whole_word": true }));
    }
    assert_eq!(alice.delete(&format!("/api/v1/filters/keywords/{one}")).ok().await, json!({}));
    let left = alice.get(&format!("{FILTERS}/{id}/keywords")).ok().await;
    assert_eq!((left.as_array().unwrap().len(), &left[0]["keyword"]), (1, &json!("two")));
    alice.delete(&format!("{FILTERS}/{id}")).ok().await;
    assert_eq!(app.count("filter_keywords").await, 0);
}

#[tokio::test]
async fn filtered_status_matches_with_its_reblogs() {
    let app = TestApp::core().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let status = bob.publish("hello").await.into_id();
    let reblog = carol.reblog(&status).ok().await;
    let reblog = reblog["id"].as_str().unwrap();
    let id = filter(&alice, &["hello"], json!({ "title": "by its words" })).await;
    let path = format!("{FILTERS}/{id}/statuses");
    let entry = alice.post(&path).json(&json!({ "status_id": status })).ok().await;
    contract::check("FilterStatus", &entry);
    assert!(alice.post(&path).json(&json!({ "status_id": status })).fails(422).await.contains("taken"));

    for shown in [status.as_str(), reblog] {
        let found = results(&alice, shown).await;
        assert_eq!(found.len(), 1, "one result for a filter");
        assert_eq!(found[0]["status_matches"], json!([status]));
        assert_eq!(found[0]["keyword_matches"], json!(["hello"]));
    }
    let entry = entry["id"].as_str().unwrap();
    assert_eq!(alice.get(&format!("/api/v1/filters/statuses/{entry}")).ok().await["status_id"], json!(status));
    alice.delete(&format!("{FILTERS}/statuses/{entry}")).ok().await;
    assert_eq!(results(&alice, &status).await[0]["status_matches"], json!(null));

    alice.post(&format!("/api/v1/filters/{id}/statuses")).json(&json!({ "status_id": status })).ok().await;
    bob.delete_status(&status).ok().await;
    assert_eq!(alice.get(&path).ok().await, json!([]));
}

#[tokio::test]
async fn options_exclude_or_include_authors() {
    let app = TestApp::core().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    carol.update_profile(json!({ "display_name": "The Jackdaw" })).ok().await;
    alice.follow(&bob).ok().await;
    let of_bob = bob.publish("a rook").await.into_id();
    let of_carol = carol.publish("a rook").await.into_id();
    let id = filter(&alice, &["rook"], json!({ "exclude_follows": true, "filter_action": "half_warn" })).await;
    let path = format!("{FILTERS}/{id}");
    assert_eq!((is_filtered(&alice, &of_bob).await, is_filtered(&alice, &of_carol).await), (false, true));
    let result = &results(&alice, &of_carol).await[0]["filter"];
    assert_eq!((&result["filter_action"], &result["filter_action_ex"]), (&json!("warn"), &json!("half_warn")));

    let options = json!({ "exclude_follows": false, "exclude_localusers": true });
    alice.put(&path).json(&options).ok().await;
    assert_eq!((is_filtered(&alice, &of_bob).await, is_filtered(&alice, &of_carol).await), (false, false));
    app.execute("UPDATE accounts SET domain = 'remote.test', version = version + 1 WHERE username = 'carol'").await;
    app.app.caches.heads.clear();
    assert!(is_filtered(&alice, &of_carol).await, "not an account of this server");

    let keyword = alice.get(&path).ok().await["keywords"][0]["id"].as_str().unwrap().to_owned();
    let words = json!({ "keywords_attributes": [{ "id": keyword, "keyword": "jackdaw" }] });
    alice.put(&path).json(&words).ok().await;
    assert!(!is_filtered(&alice, &of_carol).await);
    alice.put(&path).json(&json!({ "with_profile": true })).ok().await;
    assert_eq!(results(&alice, &of_carol).await[0]["keyword_matches"], json!(["Jackdaw"]));
    let shown = alice.get(&path).ok().await;
    assert_eq!((&shown["with_quote"], &shown["with_profile"]), (&json!(true), &json!(true)));
}

#[tokio::test]
async fn filter_that_hides_media_keeps_its_action_everywhere() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = bob.publish("a rook").await.into_id();
    let id = filter(&alice, &["rook"], json!({ "filter_action": "blur" })).await;
    let found = &results(&alice, &status).await[0];
    assert_eq!(
        (&found["filter"]["filter_action"], &found["filter"]["filter_action_ex"]),
        (&json!("blur"), &json!("blur"))
    );
    assert_eq!(found["keyword_matches"], json!(["rook"]));

    // To the older version it is a filter that does not hide; a client of it does not change that.
    let listed = alice.get("/api/v1/filters").ok().await;
    assert_eq!(listed[0]["irreversible"], false);
    let path = format!("/api/v1/filters/{}", listed[0]["id"].as_str().unwrap());
    alice.put(&path).json(&json!({ "phrase": "rook", "context": ["home"], "irreversible": false })).ok().await;
    assert_eq!(alice.get(&format!("{FILTERS}/{id}")).ok().await["filter_action"], "blur");
    alice.put(&path).json(&json!({ "phrase": "rook", "context": ["home"], "irreversible": true })).ok().await;
    assert_eq!(alice.get(&format!("{FILTERS}/{id}")).ok().await["filter_action"], "hide");
}

#[tokio::test]
async fn each_request_emits_one_filter_change() {
    let app = TestApp::core().await;
    let alice = app.account("alice").await;
    let mut heard = app.app.live.subscribe();
    let mut changes = || {
        let mut count = 0;
        while let Ok(change) = heard.try_recv() {
            count += i32::from(change.kind() == context::change::ChangeKind::FiltersChanged);
        }
        count
    };
    let id = filter(&alice, &["one", "two", "three"], json!({})).await;
    assert_eq!(changes(), 1);
    let path = format!("{FILTERS}/{id}");
    alice.put(&path).json(&json!({ "keywords_attributes": [{ "keyword": "a" }, { "keyword": "b" }] })).ok().await;
    assert_eq!(changes(), 1);
    alice.put(&path).json(&json!({ "title": "" })).fails(422).await;
    alice.get(FILTERS).ok().await;
    assert_eq!(changes(), 0);
    alice.delete(&path).ok().await;
    assert_eq!(changes(), 1);
}

#[tokio::test]
async fn filters_have_limits() {
    let app = TestApp::core().await;
    let alice = app.account("alice").await;
    let keywords = |number: usize, length: usize| -> Vec<Value> {
        (0..number).map(|n| json!({ "keyword": format!("{n:0length$}") })).collect()
    };
    let body = |keywords: Vec<Value>| json!({ "title": "a", "context": ["home"], "keywords_attributes": keywords });
    for (number, length) in [(501, 5), (100, 501)] {
        let said = alice.post(FILTERS).json(&body(keywords(number, length))).fails(422).await;
        assert!(said.contains("more than"), "{said}");
    }
    assert_eq!(app.count("filters").await + app.count("filter_keywords").await, 0);
    alice.post(FILTERS).json(&body(keywords(500, 100))).ok().await;
    let said = alice.post(FILTERS).json(&body(keywords(1, 1))).fails(422).await;
    assert!(said.contains("500 keywords"), "{said}");
}

#[tokio::test]
async fn change_is_seen_by_the_next_request_of_every_node() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = bob.publish("a rook").await.into_id();
    let there = match app.db().engine() {
        // A SQLite file has one process.
        database::Engine::Sqlite => alice.clone(),
        database::Engine::Postgres => {
            Client::new(app.beside(&[]).await, Some(alice.id()), &alice.name, alice.token.clone())
        }
    };
    for _ in 0..3 {
        assert!(!is_filtered(&there, &status).await);
        let id = filter(&alice, &["rook"], json!({})).await;
        assert!(is_filtered(&there, &status).await && is_filtered(&alice, &status).await);
        let path = format!("{FILTERS}/{id}");
        let keyword = alice.get(&path).ok().await["keywords"][0]["id"].clone();
        let change = json!({ "keywords_attributes": [{ "id": keyword, "keyword": "crow" }] });
        there.put(&path).json(&change).ok().await;
        assert!(!is_filtered(&alice, &status).await && !is_filtered(&there, &status).await);
        there.put(&path).json(&json!({ "keywords_attributes": [{ "keyword": "ROOK" }] })).ok().await;
        assert!(is_filtered(&alice, &status).await);
        alice.delete(&path).ok().await;
    }
    assert!(!is_filtered(&there, &status).await);
}

#[tokio::test]
async fn filters_are_private_to_their_owner() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let id = filter(&alice, &["rook"], json!({})).await;
    let path = format!("{FILTERS}/{id}");
    bob.put(&path).json(&json!({ "title": "mine" })).fails(404).await;
    bob.post(&format!("{path}/keywords")).json(&json!({ "keyword": "a" })).fails(404).await;
    bob.delete(&path).expect(StatusCode::NOT_FOUND).await;
    assert_eq!(bob.get(FILTERS).ok().await, json!([]));
    assert_eq!(alice.get(&path).ok().await["title"], "birds");
}
