//! The own account: `verify_credentials` and `update_credentials`. Images of profiles are tested in
//! `plugins::profile`, including their removal.

use serde_json::json;

use crate::harness::TestApp;
use crate::platform::contract::check;

const VERIFY: &str = "/api/v1/accounts/verify_credentials";
const UPDATE: &str = "/api/v1/accounts/update_credentials";

#[tokio::test]
async fn new_account_has_default_credentials() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;

    let own = alice.with_scopes("profile").await.get(VERIFY).ok().await;
    check("CredentialAccount", &own);
    assert_eq!(
        own["source"],
        json!({
            "privacy": "public", "sensitive": false, "language": null, "note": "", "fields": [],
            "follow_requests_count": 0, "hide_collections": null, "discoverable": null, "indexable": false,
            "searchability": "direct", "quote_policy": "public", "attribution_domains": [],
            "also_known_as_uris": []
        })
    );
    assert_eq!(
        own["role"],
        json!({"id": "-99", "name": "", "permissions": "65536", "color": "", "highlighted": false})
    );
    app.anonymous().get(VERIFY).fails(401).await;
    alice.with_scopes("read:statuses").await.get(VERIFY).fails(403).await;
    app.application("read").await.get(VERIFY).fails(422).await;
}

#[tokio::test]
async fn owner_has_every_permission() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    app.make(&alice, "Owner").await;
    let role = alice.get(VERIFY).ok().await["role"].clone();
    assert_eq!((&role["name"], &role["permissions"]), (&json!("Owner"), &json!("1881145343")));
}

#[tokio::test]
async fn profile_is_rendered_when_written() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;

    let form = [
        ("display_name", " Alice :rook: "),
        ("note", "I know @bob@example.test, @nobody & #Rooks\n\nhttps://rooks.test"),
        ("fields_attributes[10][name]", "Friend"),
        ("fields_attributes[10][value]", "@bob"),
        ("fields_attributes[2][name]", "Page"),
        ("fields_attributes[2][value]", "https://alice.test"),
        ("fields_attributes[3][name]", " "),
        ("fields_attributes[3][value]", "dropped"),
        ("bot", "true"),
        ("discoverable", "1"),
        ("indexable", "on"),
        ("hide_collections", "true"),
        ("source[privacy]", "unlisted"),
        ("source[sensitive]", "true"),
        ("source[language]", "en-GB"),
        ("source[searchability]", "public"),
    ];
    let own = alice.patch(UPDATE).multipart(&form, &[]).ok().await;

    check("CredentialAccount", &own);
    assert_eq!(own["display_name"], "Alice :rook:");
    let note = own["note"].as_str().unwrap();
    assert!(note.contains("href=\"https://example.test/@bob\"") && note.contains("@nobody &amp; "), "{note}");
    assert!(note.contains("/tags/rooks") && note.contains("</p><p><a href=\"https://rooks.test\""), "{note}");
    assert_eq!(own["source"]["note"], "I know @bob, @nobody & #Rooks\n\nhttps://rooks.test");
    assert_eq!(own["fields"][1]["name"], "Page");
    assert!(own["fields"][1]["value"].as_str().unwrap().contains("rel=\"nofollow noopener noreferrer me\""));
    assert_eq!(own["fields"][0]["name"], "Friend", "in the order in which they were sent");
    assert_eq!(own["source"]["fields"][0], json!({"name": "Friend", "value": "@bob", "verified_at": null}));
    assert_eq!(own["fields"].as_array().unwrap().len(), 2);
    assert_eq!((&own["bot"], &own["discoverable"], &own["indexable"]), (&json!(true), &json!(true), &json!(true)));
    let source = &own["source"];
    assert_eq!((&source["privacy"], &source["sensitive"]), (&json!("unlisted"), &json!(true)));
    assert_eq!((&source["language"], &source["searchability"]), (&json!("en"), &json!("public")));

    let seen = bob.get(&format!("/api/v1/accounts/{}", alice.id())).ok().await;
    assert_eq!(seen["note"], own["note"]);
    assert_eq!(seen.get("source"), None);
}

#[tokio::test]
async fn absent_profile_fields_stay() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let before = json!({
        "display_name": "Alice", "note": "hello", "bot": true, "source": {"language": "ja", "privacy": "private"},
        "fields_attributes": {"0": {"name": "a", "value": "https://a.test"}}
    });
    alice.patch(UPDATE).json(&before).ok().await;
    let verified = r#"UPDATE accounts SET fields = '[{"name":"a","value":"https://a.test","html":"","verified_at":1768478400000000}]'"#;
    app.execute(verified).await;

    let own = alice.patch(UPDATE).json(&json!({"locked": true, "fields_attributes": []})).ok().await;
    assert_eq!((&own["display_name"], &own["bot"], &own["locked"]), (&json!("Alice"), &json!(true), &json!(true)));
    assert_eq!((&own["source"]["language"], &own["source"]["privacy"]), (&json!("ja"), &json!("private")));
    assert_eq!(own["fields"].as_array().unwrap().len(), 1);

    let renamed =
        json!({"fields_attributes": {"0": {"name": "b", "value": "https://a.test"}, "1": {"name": "c", "value": "d"}}});
    let own = alice.patch(UPDATE).json(&renamed).ok().await;
    assert_eq!(own["fields"][0]["verified_at"], "2026-01-15T12:00:00.000Z");
    assert_eq!(own["fields"][1]["verified_at"], json!(null));

    let cleared = json!({"note": "", "bot": false, "source": {"language": null}, "fields_attributes": {"0": {"name": "", "value": ""}}});
    let own = alice.patch(UPDATE).json(&cleared).ok().await;
    assert_eq!((&own["note"], &own["bot"], &own["fields"]), (&json!(""), &json!(false), &json!([])));
    assert_eq!(own["source"]["language"], json!(null));
}

#[tokio::test]
async fn invalid_profile_changes_nothing() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let fields: serde_json::Map<_, _> =
        (0..7).map(|index| (index.to_string(), json!({"name": "n", "value": "v"}))).collect();
    let wrong = [
        (json!({"display_name": "x".repeat(31), "note": "lost"}), "display_name"),
        (json!({"note": "x".repeat(501)}), "note"),
        (json!({"fields_attributes": fields}), "fields"),
        (json!({"fields_attributes": {"0": {"name": "n", "value": "x".repeat(256)}}}), "fields"),
        (json!({"source": {"privacy": "direct"}}), "source[privacy]"),
        (json!({"source": {"privacy": "secret"}}), "source[privacy]"),
        (json!({"searchability": "all"}), "searchability"),
    ];
    for (body, attribute) in wrong {
        let error = alice.patch(UPDATE).json(&body).expect(axum::http::StatusCode::UNPROCESSABLE_ENTITY).await;
        check("ValidationError", &error);
        assert!(error["details"].get(attribute).is_some(), "{attribute}: {error}");
    }
    for body in [
        json!({"source": 1}),
        json!({"display_name": ["a"]}),
        json!({"note": "a\u{0}b"}),
        json!({"fields_attributes": {"0": 1}}),
    ] {
        alice.patch(UPDATE).json(&body).fails(422).await;
    }
    let own = alice.get(VERIFY).ok().await;
    assert_eq!((&own["display_name"], &own["note"]), (&json!(""), &json!("")));

    let long = format!("{} https://example.com/{}", "x".repeat(470), "y".repeat(200));
    alice.patch(UPDATE).json(&json!({"note": long})).ok().await;
    app.anonymous().patch(UPDATE).fails(401).await;
    alice.with_scopes("read").await.patch(UPDATE).fails(403).await;
    alice.post(UPDATE).fails(404).await;
}

#[tokio::test]
async fn unlocking_accepts_pending_requests_unless_limited() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    alice.patch(UPDATE).form(&[("locked", "true")]).ok().await;
    for follower in [&bob, &carol] {
        follower.follow(&alice).ok().await;
    }
    assert_eq!(alice.get(VERIFY).ok().await["source"]["follow_requests_count"], 2);
    app.limit(&carol).await;

    alice.patch(UPDATE).form(&[("locked", "false")]).ok().await;
    app.run_jobs().await;

    let ties = alice.get(&format!("/api/v1/accounts/relationships?id[]={}&id[]={}", bob.id(), carol.id())).ok().await;
    assert_eq!((&ties[0]["followed_by"], &ties[1]["followed_by"]), (&json!(true), &json!(false)));
    assert_eq!(ties[1]["requested_by"], true);
    assert_eq!(alice.get(VERIFY).ok().await["followers_count"], 1);
}
