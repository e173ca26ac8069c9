//! Lies about who someone is: actor documents and WebFinger.

use chrono::Duration;
use serde_json::json;

use super::{Scene, text};
use crate::harness::liar::{KEY, OTHER_KEY, PUBLIC, Reply, with};
use crate::harness::{Letter, Liar};

#[tokio::test]
async fn actor_at_another_address_is_read_at_its_own() {
    let scene = Scene::new().await;
    let bob = Liar::start().await.person("bob");
    let lie = with(bob.actor(), &json!({ "name": "Not Bob", "publicKey": scene.mallory.actor()["publicKey"] }));
    scene.mallory.set_actor(&lie);
    if let Some(found) = scene.search(&scene.mallory.address()).await {
        assert_eq!((&found["acct"], &found["display_name"]), (&json!(bob.address()), &json!("bob")));
    }
    assert!(!scene.knows(&scene.mallory.uri).await);
    let follow = bob.activity("Follow", scene.alice_uri(""));
    let letter = Letter::new(&scene.app, "/inbox", follow.to_string()).signed(&scene.mallory.key_id, &KEY);
    assert_eq!(scene.refuse(&letter).await, (401, "no_key".to_owned()));
}

#[tokio::test]
async fn actor_with_an_id_that_nobody_serves_is_not_stored() {
    let scene = Scene::new().await;
    for id in
        [scene.liar.url("/users/none"), scene.alice_uri(""), "urn:uuid:1".to_owned(), "http://10.0.0.1/x".to_owned()]
    {
        scene.mallory.change_actor(&json!({ "id": id }));
        assert_eq!(scene.search(&scene.mallory.address()).await, None, "{id}");
    }
    assert_eq!(scene.app.count("accounts WHERE domain IS NOT NULL").await, 0);
}

#[tokio::test]
async fn id_that_is_another_on_every_request_is_not_believed() {
    let scene = Scene::new().await;
    let other = |name: &str| Reply::document(&with(scene.mallory.actor(), &json!({ "id": scene.liar.url(name) })));
    scene.liar.put("/users/mallory", other("/b"));
    scene.liar.put("/b", other("/c"));
    scene.liar.put("/c", other("/users/mallory"));
    assert_eq!(scene.search(&scene.mallory.address()).await, None);
    assert_eq!(scene.liar.asked("/c"), 0, "two requests are enough");
    let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
    scene.refuses(&scene.mallory, &follow, 401, "no_key").await;
}

#[tokio::test]
async fn refetched_actor_does_not_become_someone_else() {
    let scene = Scene::new().await;
    let bob = Liar::start().await.person("bob");
    let account = scene.find(&scene.mallory).await;
    scene.find(&bob).await;
    scene.mallory.set_actor(&with(bob.actor(), &json!({ "name": "Not Bob" })));
    scene.app.app.clock.advance(Duration::days(2));
    let again = scene.find(&scene.mallory).await;
    assert_eq!((&again["id"], &again["acct"]), (&account["id"], &account["acct"]));
    assert_eq!(scene.find(&bob).await["display_name"], "bob");
}

#[tokio::test]
async fn document_of_one_actor_does_not_change_the_key_of_another() {
    let scene = Scene::new().await;
    let bob = scene.liar.person("bob");
    let bobs = json!({ "id": bob.key_id, "owner": bob.uri, "publicKeyPem": OTHER_KEY.public });
    bob.change_actor(&json!({ "publicKey": bobs }));
    scene.find(&bob).await;
    // Mallory's document claims to be Bob's, with Mallory's key.
    let keys = json!([{ "id": scene.mallory.key_id, "owner": bob.uri, "publicKeyPem": KEY.public }]);
    scene.mallory.set_actor(&with(bob.actor(), &json!({ "publicKey": keys })));
    let follow = bob.activity("Follow", scene.alice_uri(""));
    for (key_id, reason) in [(&scene.mallory.key_id, "no_key"), (&bob.key_id, "forged")] {
        let letter = Letter::new(&scene.app, "/inbox", follow.to_string()).signed(key_id, &KEY);
        assert_eq!(scene.refuse(&letter).await, (401, reason.to_owned()));
    }
    let letter = Letter::new(&scene.app, "/inbox", follow.to_string()).signed(&bob.key_id, &OTHER_KEY);
    assert_eq!(scene.deliver(&letter).await, "Follow ok", "Bob's own key still counts");
}

#[tokio::test]
async fn key_of_an_owner_elsewhere_in_an_actor_is_not_used() {
    let scene = Scene::new().await;
    let bob = Liar::start().await.person("bob");
    for key in [
        json!({ "id": scene.mallory.key_id, "owner": bob.uri, "publicKeyPem": KEY.public }),
        json!({ "id": scene.mallory.key_id, "owner": scene.mallory.uri, "publicKeyPem": "-----BEGIN PUBLIC KEY-----\nAA==\n" }),
        json!({ "id": scene.mallory.key_id, "owner": scene.mallory.uri, "publicKeyPem": "" }),
    ] {
        scene.mallory.change_actor(&json!({ "publicKey": key }));
        let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
        scene.refuses(&scene.mallory, &follow, 401, "forged").await;
        scene.app.app.clock.advance(Duration::minutes(2));
    }
}

#[tokio::test]
async fn webfinger_that_names_the_actor_of_another_host_gives_no_second_address() {
    let scene = Scene::new().await;
    let bob = Liar::start().await.person("bob");
    let link = json!([{ "rel": "self", "type": "application/activity+json", "href": bob.uri }]);
    scene.mallory.set_webfinger("mallory", &with(scene.mallory.webfinger(), &json!({ "links": link })));
    if let Some(found) = scene.search(&scene.mallory.address()).await {
        assert_eq!(found["acct"], bob.address());
    }
    assert_eq!(scene.app.count("accounts WHERE username = 'mallory'").await, 0);
}

#[tokio::test]
async fn webfinger_that_names_another_actor_is_not_believed() {
    let scene = Scene::new().await;
    let bob = scene.liar.person("bob");
    scene
        .mallory
        .set_webfinger("mallory", &with(bob.webfinger(), &json!({ "subject": scene.mallory.webfinger()["subject"] })));
    let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
    scene.refuses(&scene.mallory, &follow, 401, "no_key").await;
    assert!(!scene.knows(&scene.mallory.uri).await);
}

#[tokio::test]
async fn subject_that_claims_an_address_of_another_host_is_not_believed() {
    let scene = Scene::new().await;
    let bob = Liar::start().await.person("bob");
    for subject in
        [format!("acct:{}", bob.address()), "acct:alice@localhost:3000".to_owned(), "acct:a@10.0.0.1".to_owned()]
    {
        scene.mallory.set_webfinger("mallory", &with(scene.mallory.webfinger(), &json!({ "subject": subject })));
        assert_eq!(scene.search(&scene.mallory.address()).await, None, "{subject}");
        let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
        scene.refuses(&scene.mallory, &follow, 401, "no_key").await;
        scene.app.app.clock.advance(Duration::minutes(6));
    }
    assert!(!scene.knows(&scene.mallory.uri).await);
}

#[tokio::test]
async fn stated_address_that_does_not_name_the_actor_is_not_believed() {
    for stated in ["bob", "alice@localhost:3000", "mallory@", "nonsense", "x@10.0.0.1"] {
        let scene = Scene::new().await;
        let bob = Liar::start().await.person("bob");
        let stated = if stated.contains('@') { stated.to_owned() } else { format!("{stated}@{}", bob.liar.domain) };
        scene.mallory.change_actor(&json!({ "webfinger": stated }));
        let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
        assert_eq!(scene.send(&scene.mallory, &follow).await, "Follow ok", "{stated}");
        let own = format!("accounts WHERE username = 'mallory' AND domain = '{}'", scene.liar.domain);
        assert_eq!(scene.app.count(&own).await, 1, "{stated}");
    }
    // A server that does not respond may confirm it later.
    let scene = Scene::new().await;
    let bob = Liar::start().await.person("bob");
    bob.liar.put("/.well-known/webfinger", Reply::status(503, ""));
    scene.mallory.change_actor(&json!({ "webfinger": format!("mallory@{}", bob.liar.domain) }));
    let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
    scene.refuses(&scene.mallory, &follow, 503, "no_key").await;
    assert!(!scene.knows(&scene.mallory.uri).await);
}

#[tokio::test]
async fn subject_that_redirects_twice_is_not_believed() {
    let scene = Scene::new().await;
    for (name, next) in [("mallory", "eve"), ("eve", "frank"), ("frank", "frank")] {
        let subject = json!({ "subject": format!("acct:{next}@{}", scene.liar.domain) });
        scene.mallory.set_webfinger(name, &with(scene.mallory.webfinger(), &subject));
    }
    assert_eq!(scene.search(&scene.mallory.address()).await, None);
    let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
    scene.refuses(&scene.mallory, &follow, 401, "no_key").await;
}

#[tokio::test]
async fn address_of_a_known_account_is_not_taken_over() {
    let scene = Scene::new().await;
    let bob = scene.liar.person("bob");
    let account = scene.find(&bob).await;
    for name in ["bob", "BOB"] {
        scene.mallory.change_actor(&json!({ "preferredUsername": name }));
        let link = json!({ "subject": format!("acct:{name}@{}", scene.liar.domain) });
        scene.mallory.set_webfinger(name, &with(scene.mallory.webfinger(), &link));
        let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
        scene.refuses(&scene.mallory, &follow, 401, "no_key").await;
        scene.app.app.clock.advance(Duration::minutes(2));
    }
    assert!(!scene.knows(&scene.mallory.uri).await);
    let again = scene.find(&bob).await;
    assert_eq!((&again["id"], &again["uri"]), (&account["id"], &account["uri"]));
}

/// Names that would break out of an address or a path, or that look like another.
const NAMES: [&str; 13] = [
    // The first letter is Cyrillic.
    "\u{430}lice",
    "",
    "../alice",
    "al/ice",
    "al ice",
    "alice@localhost",
    "<b>alice</b>",
    "al\u{0}ice",
    "alice\u{202e}",
    "al\u{200b}ice",
    "al%2fice",
    "al\"ice",
    "\u{7}",
];

#[tokio::test]
async fn unusable_user_name_is_not_stored() {
    let scene = Scene::new().await;
    for name in NAMES {
        scene.mallory.change_actor(&json!({ "preferredUsername": name }));
        let subject = json!({ "subject": format!("acct:{name}@{}", scene.liar.domain) });
        scene.mallory.set_webfinger(name, &with(scene.mallory.webfinger(), &subject));
        let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
        scene.refuses(&scene.mallory, &follow, 401, "no_key").await;
        scene.app.app.clock.advance(Duration::minutes(2));
    }
    assert_eq!(scene.app.count("accounts WHERE domain IS NOT NULL").await, 0);
}

#[tokio::test]
async fn unusable_user_name_of_webfinger_is_not_stored() {
    let scene = Scene::new().await;
    for name in NAMES {
        // The actor is called Mallory, and its address is another.
        let subject = json!({ "subject": format!("acct:{name}@{}", scene.liar.domain) });
        for asked in [name, "mallory"] {
            scene.mallory.set_webfinger(asked, &with(scene.mallory.webfinger(), &subject));
        }
        let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
        scene.refuses(&scene.mallory, &follow, 401, "no_key").await;
        assert_eq!(scene.search(&scene.mallory.address()).await, None, "{name}");
        scene.app.app.clock.advance(Duration::minutes(2));
    }
    assert_eq!(scene.app.count("accounts WHERE domain IS NOT NULL").await, 0);
}

#[tokio::test]
async fn addresses_of_a_profile_are_of_its_host() {
    let scene = Scene::new().await;
    let bob = Liar::start().await.person("bob");
    scene.find(&scene.mallory).await;
    for url in ["javascript:alert(1)", "data:text/html,x", "//evil.test/", &bob.uri, "http://a:b@127.0.0.1/"] {
        let picture = json!({ "type": "Image", "url": "javascript:alert(1)" });
        let members = json!({ "url": url, "icon": picture, "image": picture, "followers": bob.followers() });
        let actor = with(scene.mallory.actor(), &members);
        assert_eq!(scene.send(&scene.mallory, &scene.mallory.activity("Update", actor)).await, "Update ok");
        let account = scene.find(&scene.mallory).await;
        assert_eq!(text(&account, "url"), scene.mallory.uri, "{url}");
        for picture in ["avatar", "avatar_static", "header", "header_static"] {
            assert!(!text(&account, picture).contains("javascript"), "{account}");
        }
    }
    assert_eq!(scene.app.count(&format!("accounts WHERE followers_url = '{}'", bob.followers())).await, 0);
}

#[tokio::test]
async fn actor_without_what_it_needs_is_not_stored() {
    let scene = Scene::new().await;
    for lie in [
        json!({ "inbox": null }),
        json!({ "inbox": "javascript:alert(1)" }),
        json!({ "inbox": 7 }),
        json!({ "type": "Note" }),
        json!({ "type": "person" }),
        json!({ "preferredUsername": null }),
        json!({ "publicKey": null }),
        json!({ "@context": null }),
        json!({ "@context": PUBLIC }),
    ] {
        scene.mallory.change_actor(&lie);
        let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
        scene.refuses(&scene.mallory, &follow, 401, "no_key").await;
        scene.app.app.clock.advance(Duration::minutes(2));
    }
    assert_eq!(scene.app.count("accounts WHERE domain IS NOT NULL").await, 0);
}

#[tokio::test]
async fn stale_account_does_not_become_the_actor_that_its_document_names() {
    let scene = Scene::new().await;
    let bob = scene.liar.person("bob");
    let account = scene.find(&bob).await;
    scene.liar.document(&bob.path(), &scene.mallory.actor());
    scene.app.app.clock.advance(chrono::Duration::days(2));
    let mention = format!("hello @{}", bob.address());
    let status = scene.alice.publish(&*mention).await;
    assert_eq!(status["mentions"][0]["id"], account["id"]);
    assert_eq!(scene.find(&bob).await["id"], account["id"]);
}
