//! Accounts and statuses of other servers: found, kept fresh, and ended when they are gone.

use chrono::Duration;
use serde_json::{Value, json};

use crate::harness::liar::{Person, Reply, with};
use crate::harness::{Client, Liar, TestApp, id};

async fn scene() -> (TestApp, Client, Liar, Person) {
    let app = TestApp::named("localhost:3000", &Liar::KEYS).await;
    let alice = app.account("alice").await;
    let other = Liar::start().await;
    let carol = other.person("carol");
    (app, alice, other, carol)
}

async fn search(viewer: &Client, q: &str, resolve: bool) -> Value {
    let q: String = url::form_urlencoded::byte_serialize(q.as_bytes()).collect();
    viewer.get(&format!("/api/v2/search?resolve={resolve}&q={q}")).ok().await
}

#[tokio::test]
async fn account_is_looked_up_only_when_a_person_asks() {
    let (app, alice, other, carol) = scene().await;
    let address = format!("@{}", carol.address());
    assert_eq!(search(&alice, &address, false).await["accounts"], json!([]));
    app.anonymous().get(&format!("/api/v2/search?resolve=true&q={address}")).fails(401).await;
    alice.get(&format!("/api/v1/accounts/lookup?acct={}", carol.address())).fails(404).await;
    assert_eq!(other.asked("/.well-known/webfinger"), 0);

    let found = search(&alice, &address, true).await["accounts"][0].clone();
    assert_eq!((&found["acct"], &found["url"]), (&carol.address().into(), &other.url("/@carol").into()));
    assert_eq!(found["note"], "<p>hello</p>");
    let known = alice.get(&format!("/api/v1/accounts/lookup?acct={}", carol.address())).ok().await;
    assert_eq!(known["id"], found["id"]);
    let by_search = alice.get(&format!("/api/v1/accounts/search?resolve=true&q={}", carol.address())).ok().await;
    assert_eq!(by_search[0]["id"], found["id"]);
    let link = format!("<{}>; rel=\"alternate\"; type=\"application/activity+json\"", carol.uri);
    other.put("/@carol", Reply::of("text/html", "").header("link", &link));
    for address in [carol.uri.clone(), other.url("/@carol")] {
        assert_eq!(search(&alice, &address, true).await["accounts"][0]["id"], found["id"], "{address}");
    }
    assert_eq!(other.asked("/users/carol"), 2, "by its address, and for the page");
}

#[tokio::test]
async fn account_of_another_domain_than_its_actor_is_found_by_its_address() {
    let (_app, alice, other, carol) = scene().await;
    let domain = Liar::start().await;
    let link = json!({ "rel": "self", "type": "application/activity+json", "href": carol.uri });
    let answer = json!({ "subject": format!("acct:carol@{}", domain.domain), "links": [link] });
    for asked in [&domain, &other] {
        asked.put("/.well-known/webfinger", Reply::of("application/jrd+json", answer.to_string()));
    }
    let resource: String =
        url::form_urlencoded::byte_serialize(format!("acct:carol@{}", other.domain).as_bytes()).collect();
    other.put(
        &format!("/.well-known/webfinger?resource={resource}"),
        Reply::of("application/jrd+json", answer.to_string()),
    );
    let found = search(&alice, &format!("@carol@{}", domain.domain), true).await;
    assert_eq!(found["accounts"][0]["acct"], format!("carol@{}", domain.domain), "{found}");
}

#[tokio::test]
async fn actor_that_states_its_address_has_it() {
    for (member, username) in [("carol", json!("carol")), ("acct:Caro", Value::Null)] {
        let (_app, alice, other, carol) = scene().await;
        let domain = Liar::start().await;
        let name = member.trim_start_matches("acct:");
        let link = json!({ "rel": "self", "type": "application/activity+json", "href": carol.uri });
        let answer = json!({ "subject": format!("acct:{name}@{}", domain.domain), "links": [link] });
        domain.put("/.well-known/webfinger", Reply::of("application/jrd+json", answer.to_string()));
        let stated = format!("{member}@{}", domain.domain);
        carol.change_actor(&json!({ "webfinger": stated, "preferredUsername": username }));
        let found = search(&alice, &carol.uri, true).await;
        assert_eq!(found["accounts"][0]["acct"], format!("{name}@{}", domain.domain), "{found}");
        assert_eq!(other.asked("/.well-known/webfinger"), 0);
    }
}

#[tokio::test]
async fn stale_account_is_fetched_again() {
    let (app, alice, other, carol) = scene().await;
    let address = format!("@{}", carol.address());
    search(&alice, &address, true).await;
    carol.change_actor(&json!({ "name": "Carol C." }));
    app.app.clock.advance(Duration::days(2));
    let found = search(&alice, &address, true).await;
    assert_eq!(found["accounts"][0]["display_name"], "Carol C.");

    for status in [503, 404] {
        other.put("/users/carol", Reply::status(status, ""));
        app.app.clock.advance(Duration::days(2));
        let found = search(&alice, &address, true).await;
        assert_eq!(found["accounts"][0]["display_name"], "Carol C.", "a failure leaves it as it is");
    }
}

#[tokio::test]
async fn gone_account_is_removed() {
    let (app, alice, other, carol) = scene().await;
    let address = format!("@{}", carol.address());
    let account = search(&alice, &address, true).await["accounts"][0].clone();
    other.put("/users/carol", Reply::status(410, ""));
    app.app.clock.advance(Duration::days(2));
    search(&alice, &address, true).await;
    app.run_jobs().await;
    alice.get(&format!("/api/v1/accounts/{}", id(&account))).fails(404).await;
    assert_eq!(app.count("accounts WHERE domain IS NOT NULL").await, 0);
}

#[tokio::test]
async fn status_is_found_by_its_page() {
    let (_app, alice, other, carol) = scene().await;
    let page = other.url("/@carol/1");
    let note = with(
        carol.note("1"),
        &json!({
            "url": page, "summary": "careful", "contentMap": { "de": "<p>1</p>" },
            "attachment": [{ "type": "Document", "mediaType": "image/png", "url": other.url("/1.png"), "name": "a rook" }],
        }),
    );
    let uri = other.document("/users/carol/notes/1", &note);
    let link = format!("<{uri}>; rel=\"alternate\"; type=\"application/activity+json\"");
    other.put("/@carol/1", Reply::of("text/html", "<p>1</p>").header("link", &link));
    let found = search(&alice, &page, true).await["statuses"][0].clone();
    assert_eq!((&found["uri"], &found["url"]), (&uri.as_str().into(), &page.as_str().into()));
    assert_eq!(
        (&found["spoiler_text"], &found["sensitive"], &found["language"]),
        (&"careful".into(), &true.into(), &"de".into())
    );
    let media = &found["media_attachments"][0];
    assert_eq!((&media["type"], &media["description"]), (&"image".into(), &"a rook".into()));
    assert_eq!(media["remote_url"], other.url("/1.png"));
    assert_eq!(search(&alice, &uri, true).await["statuses"][0]["id"], found["id"]);

    let head = format!("<head><link rel=\"alternate\" type=\"application/activity+json\" href=\"{uri}\"></head>");
    other.put("/somewhere", Reply::of("text/html", head));
    assert_eq!(search(&alice, &other.url("/somewhere"), true).await["statuses"][0]["id"], found["id"]);
}

#[tokio::test]
async fn account_that_many_look_for_at_once_is_stored_once() {
    let (app, alice, _other, carol) = scene().await;
    let address = format!("@{}", carol.address());
    let looking = (0..8).map(|_| search(&alice, &address, true));
    let found = futures_util::future::join_all(looking).await;
    let ids: std::collections::BTreeSet<&str> = found.iter().map(|found| id(&found["accounts"][0])).collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(app.count("accounts WHERE domain IS NOT NULL").await, 1);
}
