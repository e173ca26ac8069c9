//! Problems of real clients: details of many routes, each with the request that revealed it.

use axum::http::Method;
use serde_json::{Value, json};

use crate::harness::{Client, TestApp};
use crate::platform::contract;
use crate::routes::media::png;

#[tokio::test]
async fn pictures_may_be_read_by_pages_of_other_sites() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let media = alice.upload(&png(8, 8)).ok().await;
    let file = media["url"].as_str().unwrap().strip_prefix("https://example.test").unwrap().to_owned();
    let account = alice.get(&format!("/api/v1/accounts/{}", alice.id())).ok().await;
    let instance = app.anonymous().get("/api/v2/instance").ok().await;
    let bare = |url: &Value| url.as_str().unwrap().strip_prefix("https://example.test").unwrap().to_owned();
    for path in [file, bare(&account["avatar"]), bare(&account["header"]), bare(&instance["thumbnail"]["url"])] {
        let answer = app.anonymous().get(&path).header("origin", "https://elsewhere.test").send().await;
        assert_eq!((answer.status.as_u16(), answer.header("access-control-allow-origin")), (200, "*"), "{path}");
        let asked = app.anonymous().request(Method::OPTIONS, &path).header("origin", "https://elsewhere.test");
        let asked = asked.header("access-control-request-method", "GET").send().await;
        assert_eq!(asked.header("access-control-allow-methods"), "GET", "{path}");
    }
}

#[tokio::test]
async fn ids_are_optional_and_count_once() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    for action in ["accept", "dismiss"] {
        let path = format!("/api/v1/notifications/requests/{action}");
        for body in [json!({}), json!({"id": []})] {
            assert_eq!(alice.post(&path).json(&body).ok().await, json!({}), "{action}");
        }
    }
    assert_eq!(alice.get("/api/v1/accounts/familiar_followers").ok().await, json!([]));
    let twice = format!("?id[]={0}&id[]={0}", bob.id());
    for path in ["/api/v1/accounts/familiar_followers", "/api/v1/accounts/relationships", "/api/v1/accounts"] {
        assert_eq!(alice.get(&format!("{path}{twice}")).ok().await.as_array().unwrap().len(), 1, "{path}");
    }
    let media = alice.upload(&png(8, 8)).ok().await;
    let status = json!({"status": "look", "media_ids": [media["id"], media["id"]]});
    let status = alice.publish(&status).await;
    assert_eq!(status["media_attachments"].as_array().unwrap().len(), 1);
    let path = format!("/api/v1/statuses?id[]={0}&id[]={0}", status["id"].as_str().unwrap());
    assert_eq!(alice.get(&path).ok().await.as_array().unwrap().len(), 1);
}

/// A request to change a record of another account: 404 before its parameters are read.
async fn refused_as_missing(client: &Client, method: Method, path: &str) {
    for body in
        [json!({}), json!({"title": ["a"], "account_ids": 1, "keyword": {}, "scheduled_at": "soon", "choices": "x"})]
    {
        let answer = client.request(method.clone(), path).json(&body).send().await;
        assert_eq!(answer.status, 404, "{method} {path} {body}");
    }
}

#[tokio::test]
async fn records_of_others_are_not_found() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let id = |made: &Value| made["id"].as_str().unwrap().to_owned();
    let list = alice.make_list("Birds").await;
    let words = json!({"title": "x", "context": ["home"], "keywords_attributes": [{"keyword": "x"}]});
    let made = alice.post("/api/v2/filters").json(&words).ok().await;
    let (filter, keyword) = (id(&made), id(&made["keywords"][0]));
    let later = json!({"status": "later", "scheduled_at": "2026-02-15T12:00:00Z"});
    let scheduled = alice.publish(later).await;
    let status = alice.publish("hello").await;
    let media = alice.upload(&png(8, 8)).ok().await;
    for (method, path) in [
        (Method::PUT, format!("/api/v1/lists/{list}")),
        (Method::POST, format!("/api/v1/lists/{list}/accounts")),
        (Method::DELETE, format!("/api/v1/lists/{list}/accounts")),
        (Method::PUT, format!("/api/v2/filters/{filter}")),
        (Method::POST, format!("/api/v2/filters/{filter}/keywords")),
        (Method::POST, format!("/api/v2/filters/{filter}/statuses")),
        (Method::PUT, format!("/api/v2/filters/keywords/{keyword}")),
        (Method::PUT, format!("/api/v1/filters/{keyword}")),
        (Method::PUT, format!("/api/v1/scheduled_statuses/{scheduled}")),
        (Method::PUT, format!("/api/v1/statuses/{status}")),
        (Method::PUT, format!("/api/v1/statuses/{status}/interaction_policy")),
        (Method::PUT, format!("/api/v1/media/{}", id(&media))),
        (Method::POST, "/api/v1/polls/1/votes".to_owned()),
    ] {
        refused_as_missing(&bob, method, &path).await;
    }
    // The owner gets the error of the parameters.
    alice.put(&format!("/api/v1/lists/{list}")).json(&json!({"title": ["a"]})).fails(422).await;
    alice.post(&format!("/api/v1/lists/{list}/accounts")).json(&json!({})).fails(400).await;
}

#[tokio::test]
async fn keyword_is_a_whole_word_by_default() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let new = json!({"title": "x", "context": ["home"], "keywords_attributes": [{"keyword": "one"}]});
    let filter = alice.post("/api/v2/filters").json(&new).ok().await;
    assert_eq!(filter["keywords"][0]["whole_word"], true);
    let path = format!("/api/v2/filters/{}/keywords", filter["id"].as_str().unwrap());
    assert_eq!(alice.post(&path).json(&json!({"keyword": "two"})).ok().await["whole_word"], true);
    let part = json!({"keyword": "three", "whole_word": false});
    assert_eq!(alice.post(&path).json(&part).ok().await["whole_word"], false);
    let phrase = json!({"phrase": "four", "context": ["home"]});
    assert_eq!(alice.post("/api/v1/filters").json(&phrase).ok().await["whole_word"], true);
}

#[tokio::test]
async fn own_statuses_are_marked_by_no_own_filter() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let new = json!({"title": "x", "context": ["home"], "keywords_attributes": [{"keyword": "🅱️"}]});
    let filter = alice.post("/api/v2/filters").json(&new).ok().await;
    let say = async |author: &Client| {
        app.tick();
        let status = author.publish("a🅱️b").await;
        status["id"].as_str().unwrap().to_owned()
    };
    let (own, others) = (say(&alice).await, say(&bob).await);
    let path = format!("/api/v2/filters/{}/statuses", filter["id"].as_str().unwrap());
    alice.post(&path).json(&json!({"status_id": own})).ok().await;
    let marked = async |id: &str, rest: &str| {
        let status = alice
            .request(if rest.is_empty() { Method::GET } else { Method::POST }, &format!("/api/v1/statuses/{id}{rest}"));
        let status = status.ok().await;
        let of = if status["reblog"].is_null() { &status } else { &status["reblog"] };
        of["filtered"].as_array().unwrap().len()
    };
    assert_eq!(marked(&own, "").await, 0);
    assert_eq!(marked(&others, "").await, 1, "an emoji is a whole word inside a word");
    assert_eq!(marked(&others, "/reblog").await, 1, "it is still what another wrote");
    // A reblog of an own status by another account.
    bob.reblog(&own).ok().await;
    app.run_jobs().await;
    let theirs = alice.get(&format!("/api/v1/accounts/{}/statuses", bob.id())).ok().await;
    assert_eq!((&theirs[0]["reblog"]["id"], &theirs[0]["filtered"]), (&json!(own), &json!([])));
}

#[tokio::test]
async fn profile_fields_keep_the_order_in_which_they_were_sent() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let names = |account: &Value| {
        let fields = account["fields"].as_array().unwrap();
        fields.iter().map(|field| field["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let path = "/api/v1/accounts/update_credentials";
    let body = r#"{"fields_attributes": {"9": {"name": "a", "value": "1"}, "10": {"name": "b", "value": "2"},
        "1": {"name": "c", "value": "3"}, "x": {"name": "d", "value": "4"}}}"#;
    let changed = alice.patch(path).body("application/json", body.as_bytes().to_vec()).ok().await;
    assert_eq!(names(&changed), ["a", "b", "c", "d"]);
    let form = [
        ("fields_attributes[7][name]", "x"),
        ("fields_attributes[10][value]", "2"),
        ("fields_attributes[7][value]", "1"),
        ("fields_attributes[10][name]", "y"),
        ("fields_attributes[0][name]", "z"),
        ("fields_attributes[0][value]", "3"),
    ];
    assert_eq!(names(&alice.patch(path).form(&form).ok().await), ["x", "y", "z"]);
    assert_eq!(names(&alice.patch(path).multipart(&form, &[]).ok().await), ["x", "y", "z"]);
}

#[tokio::test]
async fn invalid_language_is_ignored() {
    let app = TestApp::new().await;
    app.set("registrations_mode", "open").await;
    let alice = app.account("alice").await;
    let credentials = "/api/v1/accounts/update_credentials";
    alice.patch(credentials).json(&json!({"source": {"language": "ja"}})).ok().await;
    for odd in [json!("klingonese"), json!(["de"]), json!({"a": "de"}), json!("!!")] {
        let kept = alice.patch(credentials).json(&json!({"source": {"language": odd}})).ok().await;
        assert_eq!(kept["source"]["language"], "ja", "{odd}");
        app.tick();
        let status = json!({"status": "hello", "language": odd});
        assert_eq!(alice.publish(&status).await["language"], "ja", "{odd}");
    }
    for query in ["lang[]=de", "lang=%F0%9F%90%A6", "lang[a]=de", "lang="] {
        for path in
            ["/api/v1/timelines/public", "/api/v1/timelines/tag/rooks", "/api/v1/trends/statuses", "/api/v2/instance"]
        {
            alice.get(&format!("{path}?{query}")).ok().await;
        }
    }
    let application = app.application("write:accounts").await;
    for (at, odd) in [json!(["de"]), json!("klingonese"), json!({})].into_iter().enumerate() {
        let person = json!({"username": format!("new{at}"), "email": format!("new{at}@example.test"),
            "password": "a long password", "agreement": true, "locale": odd});
        application.post("/api/v1/accounts").json(&person).ok().await;
    }
    for blank in ["", "          "] {
        let person = json!({"username": "blank", "email": "blank@example.test", "password": blank, "agreement": true});
        let refused = application
            .post("/api/v1/accounts")
            .json(&person)
            .expect(axum::http::StatusCode::UNPROCESSABLE_ENTITY)
            .await;
        assert_eq!(refused["details"]["password"][0]["error"], "ERR_BLANK", "{refused}");
        assert!(refused["error"].as_str().unwrap().contains("can't be blank"), "{refused}");
    }
}

#[tokio::test]
async fn own_votes_are_in_the_order_in_which_they_were_cast() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let poll = json!({"options": ["a", "b", "c", "d"], "expires_in": 600, "multiple": true});
    let status = alice.publish(json!({"status": "which?", "poll": poll})).await;
    let path = format!("/api/v1/polls/{}", status["poll"]["id"].as_str().unwrap());
    let voted = bob.post(&format!("{path}/votes")).json(&json!({"choices": [2, 0, 2]})).ok().await;
    contract::check("Poll", &voted);
    assert_eq!((&voted["own_votes"], &voted["votes_count"]), (&json!([2, 0]), &json!(2)), "each counts once");
    let voted = bob.post(&format!("{path}/votes")).json(&json!({"choices": [1]})).ok().await;
    assert_eq!(voted["own_votes"], json!([2, 0, 1]));
    let seen = bob.status(&status).ok().await;
    assert_eq!(seen["poll"]["own_votes"], json!([2, 0, 1]));
}

#[tokio::test]
async fn features_are_announced_by_the_names_that_clients_expect() {
    let app = TestApp::new().await;
    let names = |list: &Value| {
        list.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let node = app.anonymous().get("/nodeinfo/2.0").ok().await;
    let mut documents = vec![names(&node["metadata"]["features"])];
    for version in ["v1", "v2"] {
        let instance = app.anonymous().get(&format!("/api/{version}/instance")).ok().await;
        documents.push(names(&instance["fedibird_capabilities"]));
    }
    for document in documents {
        for name in [
            "visibility_mutual",
            "visibility_limited",
            "kmyblue_limited_scope",
            "kmyblue_list_notification",
            "enable_wide_emoji",
            "emoji_keywords",
        ] {
            assert!(document.contains(&name.to_owned()), "{name}: {document:?}");
        }
    }
}
