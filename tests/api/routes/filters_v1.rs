//! <https://docs.joinmastodon.org/methods/filters/#v1>: a v1 filter is a keyword of a v2 filter.

use serde_json::json;

use super::filters::FILTERS;
use crate::harness::TestApp;
use crate::platform::contract;

#[tokio::test]
async fn filters_v1_are_keywords() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let pairs = [("phrase", "rook"), ("context[]", "home"), ("context[]", "home"), ("irreversible", "true")];
    let made = alice.post("/api/v1/filters").form(&pairs).ok().await;
    contract::check("V1_Filter", &made);
    assert_eq!((&made["context"], &made["irreversible"]), (&json!(["home"]), &json!(true)));
    let path = format!("/api/v1/filters/{}", made["id"].as_str().unwrap());
    let whole = alice.get(FILTERS).ok().await[0].clone();
    assert_eq!((&whole["title"], &whole["filter_action"]), (&json!("rook"), &json!("hide")));
    assert_eq!(whole["keywords"][0]["id"], made["id"]);

    let change = json!({ "phrase": "crow", "context": ["public"], "irreversible": false, "expires_in": 60 });
    let changed = alice.put(&path).json(&change).ok().await;
    assert_eq!((&changed["phrase"], &changed["context"]), (&json!("crow"), &json!(["public"])));
    let filter = format!("{FILTERS}/{}", whole["id"].as_str().unwrap());
    let whole = alice.get(&filter).ok().await;
    assert_eq!((&whole["title"], &whole["filter_action"]), (&json!("crow"), &json!("warn")));

    let excluded = json!({ "exclude_follows": true, "exclude_localusers": true });
    alice.put(&path).json(&excluded).ok().await;
    let whole = alice.get(&filter).ok().await;
    assert_eq!((&whole["exclude_follows"], &whole["exclude_localusers"]), (&json!(true), &json!(true)));

    alice.post(&format!("{filter}/keywords")).json(&json!({ "keyword": "raven" })).ok().await;
    assert_eq!(alice.get("/api/v1/filters").ok().await.as_array().unwrap().len(), 2);
    for change in [json!({ "context": ["home"] }), json!({ "irreversible": true }), json!({ "expires_in": "" })] {
        alice.put(&path).json(&change).fails(422).await;
    }
    let same = json!({ "phrase": "jackdaw", "context": ["public"], "irreversible": false, "whole_word": true });
    assert_eq!(alice.put(&path).json(&same).ok().await["phrase"], "jackdaw");
    assert_eq!(alice.get(&filter).ok().await["title"], "crow", "the title is of them all");
    alice.delete(&path).ok().await;
    let left = alice.get(&filter).ok().await;
    assert_eq!(left["keywords"].as_array().unwrap().len(), 1, "the filter stays");
}
