//! Lies about who sends a request.

use chrono::Duration;
use serde_json::json;

use super::Scene;
use crate::harness::liar::{ACTIVITY, KEY, OTHER_KEY, PUBLIC, Reply, with};
use crate::harness::{Letter, Liar};

#[tokio::test]
async fn unsigned_request_is_refused() {
    let scene = Scene::new().await;
    let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
    let letter = Letter::new(&scene.app, "/inbox", follow.to_string());
    assert_eq!(scene.refuse(&letter).await, (401, "unsigned".to_owned()));
    assert_eq!(scene.app.count("follows").await, 0);
    assert_eq!(scene.liar.asked("/users/mallory"), 0, "nobody is looked up for it");
}

#[tokio::test]
async fn signature_with_another_key_is_refused() {
    let scene = Scene::new().await;
    let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
    let letter = Letter::new(&scene.app, "/inbox", follow.to_string()).signed(&scene.mallory.key_id, &OTHER_KEY);
    assert_eq!(scene.refuse(&letter).await, (401, "forged".to_owned()));
    assert_eq!(scene.app.count("follows").await, 0);
    for _ in 0..5 {
        assert_eq!(scene.refuse(&letter).await, (401, "forged".to_owned()));
    }
    assert_eq!(scene.liar.asked("/users/mallory"), 2, "at first contact, and once again: it may have changed");
}

#[tokio::test]
async fn signature_of_random_bytes_is_refused() {
    let scene = Scene::new().await;
    let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
    let forged = format!(
        r#"keyId="{}",headers="(request-target) date digest",algorithm="rsa-sha256",signature="AAAA""#,
        scene.mallory.key_id
    );
    let letter = scene.mallory.letter(&scene.app, &follow).header("signature", &forged);
    assert_eq!(scene.refuse(&letter).await, (401, "forged".to_owned()));
}

#[tokio::test]
async fn key_of_someone_else_of_the_same_host_does_not_sign() {
    let scene = Scene::new().await;
    let bob = scene.liar.person("bob");
    bob.change_actor(&json!({ "publicKey": { "id": bob.key_id, "owner": bob.uri, "publicKeyPem": OTHER_KEY.public } }));
    let letter = |key_id: &str| {
        let follow = bob.activity("Follow", scene.alice_uri(""));
        Letter::new(&scene.app, "/inbox", follow.to_string()).signed(key_id, &KEY)
    };
    assert_eq!(scene.refuse(&letter(&bob.key_id)).await, (401, "forged".to_owned()), "Mallory's key, named Bob's");
    let own = letter(&scene.mallory.key_id);
    assert_eq!(scene.refuse(&own).await, (401, "not_the_actor".to_owned()), "Mallory's key, Bob's activity");
    assert_eq!(scene.app.count("follows").await, 0);
}

#[tokio::test]
async fn actor_of_another_host_than_the_key_is_refused() {
    let scene = Scene::new().await;
    let bob = Liar::start().await.person("bob");
    let follow = bob.activity("Follow", scene.alice_uri(""));
    scene.refuses(&scene.mallory, &follow, 401, "not_the_actor").await;
    assert_eq!(scene.app.count("follows").await, 0);
}

#[tokio::test]
async fn key_that_its_owner_does_not_claim_is_refused() {
    let scene = Scene::new().await;
    let bob = scene.liar.person("bob");
    let key = json!({ "@context": "https://w3id.org/security/v1", "id": scene.liar.url("/keys/1"), "type": "Key",
        "owner": bob.uri, "publicKeyPem": KEY.public });
    let key = with(key, &json!({ "@context": bob.actor()["@context"] }));
    let key_id = scene.liar.document("/keys/1", &key);
    let follow = bob.activity("Follow", scene.alice_uri(""));
    let letter = Letter::new(&scene.app, "/inbox", follow.to_string()).signed(&key_id, &KEY);
    assert_eq!(scene.refuse(&letter).await, (401, "no_key".to_owned()));
    assert!(!scene.knows(&bob.uri).await);
}

#[tokio::test]
async fn key_whose_owner_is_on_another_host_is_refused() {
    let scene = Scene::new().await;
    let bob = Liar::start().await.person("bob");
    let key_id = scene.liar.url("/keys/1");
    let owned = json!({ "id": key_id, "owner": bob.uri, "publicKeyPem": KEY.public });
    scene.liar.document("/keys/1", &with(owned.clone(), &json!({ "@context": bob.actor()["@context"] })));
    // Even if Bob seems to claim it.
    bob.change_actor(&json!({ "publicKey": owned }));
    let follow = bob.activity("Follow", scene.alice_uri(""));
    let letter = Letter::new(&scene.app, "/inbox", follow.to_string()).signed(&key_id, &KEY);
    assert_eq!(scene.refuse(&letter).await, (401, "no_key".to_owned()));
    assert_eq!(scene.app.count("follows").await, 0);
}

#[tokio::test]
async fn key_document_on_another_host_by_a_redirect_is_refused() {
    let scene = Scene::new().await;
    let bob = Liar::start().await.person("bob");
    bob.liar.put("/open", Reply::redirect(&scene.mallory.uri));
    // The document says that it is Bob's, and comes from Mallory's host.
    scene.mallory.set_actor(&with(bob.actor(), &json!({ "inbox": scene.liar.url("/inbox") })));
    let key_id = bob.liar.url("/open#main-key");
    let follow = bob.activity("Follow", scene.alice_uri(""));
    let letter = Letter::new(&scene.app, "/inbox", follow.to_string()).signed(&key_id, &KEY);
    assert_eq!(scene.refuse(&letter).await, (401, "no_key".to_owned()));
    assert_eq!(scene.app.count("accounts WHERE domain IS NOT NULL").await, 0);
}

#[tokio::test]
async fn key_of_a_local_account_is_refused() {
    let scene = Scene::new().await;
    let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
    for key_id in [scene.alice_uri("#main-key"), "http://localhost:3000/actor#main-key".to_owned()] {
        let letter = Letter::new(&scene.app, "/inbox", follow.to_string()).signed(&key_id, &KEY);
        assert_eq!(scene.refuse(&letter).await, (403, "own_domain".to_owned()));
    }
}

#[tokio::test]
async fn local_actor_is_refused() {
    let scene = Scene::new().await;
    let bob = scene.app.account("bob").await;
    let follow = with(
        scene.mallory.activity("Follow", format!("http://localhost:3000/users/{}", bob.name)),
        &json!({ "actor": scene.alice_uri("") }),
    );
    scene.refuses(&scene.mallory, &follow, 401, "not_the_actor").await;
    assert_eq!(scene.app.count("follows").await, 0);
}

#[tokio::test]
async fn key_that_is_no_address_is_refused() {
    let scene = Scene::new().await;
    let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
    for key_id in ["acct:mallory", "acct:mallory@", "mallory", "file:///etc/passwd", "http://u:p@liar.test/key"] {
        let letter = Letter::new(&scene.app, "/inbox", follow.to_string()).signed(key_id, &KEY);
        assert_eq!(scene.refuse(&letter).await, (401, "forged".to_owned()), "{key_id}");
    }
}

#[tokio::test]
async fn old_and_future_dates_are_refused() {
    let scene = Scene::new().await;
    let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
    for (offset, reason) in [(Duration::hours(-2), "expired"), (Duration::hours(2), "from_the_future")] {
        let letter = Letter::new(&scene.app, "/inbox", follow.to_string()).dated(*scene.app.app.clock.now() + offset);
        let letter = letter.signed(&scene.mallory.key_id, &KEY);
        assert_eq!(scene.refuse(&letter).await, (401, reason.to_owned()));
    }
    assert_eq!(scene.liar.asked("/users/mallory"), 0);
}

#[tokio::test]
async fn digest_of_another_body_is_refused() {
    let scene = Scene::new().await;
    let mut letter = scene.mallory.letter(&scene.app, &scene.mallory.activity("Follow", scene.alice_uri("")));
    letter.body = scene.mallory.activity("Like", scene.alice_uri("/statuses/1")).to_string().into();
    assert_eq!(scene.refuse(&letter).await, (401, "digest".to_owned()));
    let letter = letter.digested();
    assert_eq!(scene.refuse(&letter).await, (401, "forged".to_owned()), "a digest that was not signed");
}

#[tokio::test]
async fn request_that_signs_too_little_is_refused() {
    let scene = Scene::new().await;
    let follow = scene.mallory.activity("Follow", scene.alice_uri("")).to_string();
    let lacks: [&[&str]; 4] = [
        &["(request-target)", "host", "date"],
        &["(request-target)", "host", "digest"],
        &["date"],
        &["host", "content-type"],
    ];
    for components in lacks {
        let letter = Letter::new(&scene.app, "/inbox", follow.clone());
        let letter = letter.signs(&scene.mallory.key_id, &KEY, components);
        assert_eq!(scene.refuse(&letter).await, (401, "not_signed".to_owned()), "{components:?}");
    }
}

#[tokio::test]
async fn request_signed_for_another_inbox_is_refused() {
    let scene = Scene::new().await;
    let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
    let mut letter = scene.mallory.letter_to(&scene.app, "/users/someone/inbox", &follow);
    letter.path = "/users/alice/inbox".to_owned();
    assert_eq!(scene.refuse(&letter).await, (401, "forged".to_owned()));
}

#[tokio::test]
async fn request_replayed_after_an_undo_has_no_effect() {
    let scene = Scene::new().await;
    let status = scene.alice.publish("hello").await;
    let target = scene.alice_uri(&format!("/statuses/{status}"));
    let undo = |activity: &serde_json::Value| scene.mallory.activity("Undo", activity.clone());
    let (like, announce) = (scene.mallory.activity("Like", target.clone()), scene.mallory.activity("Announce", target));
    let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
    for (activity, table) in
        [(like, "favourites"), (announce, "statuses WHERE reblog_of_id IS NOT NULL"), (follow, "follows")]
    {
        let letter = scene.mallory.letter(&scene.app, &activity);
        assert!(scene.deliver(&letter).await.ends_with(" ok"), "{activity}");
        assert_eq!(scene.app.count(table).await, 1, "{table}");
        assert_eq!(scene.send(&scene.mallory, &undo(&activity)).await, "Undo ok");
        assert_eq!(scene.deliver(&letter).await, "", "{activity}");
        assert_eq!(scene.app.count(table).await, 0, "{table}");
    }
}

#[tokio::test]
async fn suspended_host_is_refused() {
    let scene = Scene::new().await;
    scene.find(&scene.mallory).await;
    let block = service::domain_decision::BlockParams {
        severity: model::instance::Severity::Suspend,
        flags: model::domain_policy::Flags::NONE,
        obfuscate: false,
        hidden: false,
        private_comment: None,
        public_comment: None,
    };
    service::domain_decision::block(&scene.app.app, &model::Staff::operator(), &scene.liar.domain, block)
        .await
        .unwrap();
    let mention = json!([{ "type": "Mention", "href": scene.alice_uri(""), "name": "@alice" }]);
    let note = with(scene.mallory.note("1"), &json!({ "tag": mention, "to": [PUBLIC, scene.alice_uri("")] }));
    let create = scene.mallory.activity("Create", note.clone());
    let asked = scene.liar.asked("/users/mallory");
    for path in ["/inbox", "/users/alice/inbox"] {
        let letter = scene.mallory.letter_to(&scene.app, path, &create);
        assert_eq!(scene.refuse(&letter).await, (403, "suspended".to_owned()));
    }
    assert!(!scene.has(&note["id"].to_string()).await && scene.notifications().await.is_empty());
    assert_eq!(scene.open(note["id"].as_str().unwrap()).await, None);
    assert_eq!(scene.liar.asked("/users/mallory"), asked, "a suspended host is not contacted");
}

#[tokio::test]
async fn key_with_another_content_type_is_refused() {
    let scene = Scene::new().await;
    let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
    for kind in ["text/html", "application/json", "image/png", ""] {
        assert_ne!(kind, ACTIVITY);
        scene.liar.put("/users/mallory", Reply::of(kind, scene.mallory.actor().to_string()));
        scene.refuses(&scene.mallory, &follow, 401, "no_key").await;
        scene.app.app.clock.advance(Duration::minutes(2));
    }
    assert!(!scene.knows(&scene.mallory.uri).await);
}

#[tokio::test]
async fn request_that_was_signed_for_another_server_is_refused() {
    let scene = Scene::new().await;
    scene.find(&scene.mallory).await;
    let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
    let letter = Letter::new(&scene.app, "/inbox", follow.to_string()).header("host", "other.test");
    let letter = letter.signed(&scene.mallory.key_id, &KEY);
    assert_eq!(scene.refuse(&letter).await, (401, "other_server".to_owned()));
}
