//! Keys that move: to another actor, to another document, to another text.

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use chrono::Duration;
use futures_util::future::{Either, join_all, select};
use serde_json::{Value, json};

use super::Scene;
use crate::harness::liar::{KEY, Key, OTHER_KEY, Person, Reply, with};
use crate::harness::{Letter, Liar};

impl Scene {
    /// A Follow of Alice by `person`, signed with `key` under the name `key_id`.
    fn signed(&self, person: &Person, key_id: &str, key: &Key) -> Letter {
        self.app.tick();
        let follow = person.activity("Follow", self.alice_uri(""));
        Letter::new(&self.app, "/inbox", follow.to_string()).signed(key_id, key)
    }

    async fn forgets_attempts(&self) {
        self.app.app.clock.advance(Duration::minutes(2));
    }
}

/// A key document.
fn key_document(id: &str, owner: &str, key: &Key) -> Value {
    let context = ["https://www.w3.org/ns/activitystreams", "https://w3id.org/security/v1"];
    json!({ "@context": context, "id": id, "type": "Key", "owner": owner, "publicKeyPem": key.public })
}

#[tokio::test]
async fn key_that_changed_is_fetched_at_once_and_the_old_one_no_longer_signs() {
    let scene = Scene::new().await;
    let mallory = &scene.mallory;
    assert_eq!(scene.deliver(&scene.signed(mallory, &mallory.key_id, &KEY)).await, "Follow ok");
    let changed = json!({ "id": mallory.key_id, "owner": mallory.uri, "publicKeyPem": OTHER_KEY.public });
    mallory.change_actor(&json!({ "publicKey": changed }));
    scene.forgets_attempts().await;
    assert_eq!(scene.deliver(&scene.signed(mallory, &mallory.key_id, &OTHER_KEY)).await, "Follow ok");
    for _ in 0..2 {
        let old = scene.signed(mallory, &mallory.key_id, &KEY);
        assert_eq!(scene.refuse(&old).await, (401, "forged".to_owned()));
        scene.forgets_attempts().await;
    }
    assert_eq!(scene.deliver(&scene.signed(mallory, &mallory.key_id, &OTHER_KEY)).await, "Follow ok");
}

#[tokio::test]
async fn key_that_is_gone_no_longer_signs_after_a_refresh() {
    let scene = Scene::new().await;
    scene.find(&scene.mallory).await;
    scene.mallory.change_actor(&json!({ "publicKey": null }));
    let update = scene.mallory.activity("Update", scene.mallory.uri.clone());
    assert_eq!(scene.send(&scene.mallory, &update).await, "Update ok");
    scene.forgets_attempts().await;
    let letter = scene.signed(&scene.mallory, &scene.mallory.key_id, &KEY);
    assert_eq!(scene.refuse(&letter).await, (401, "no_key".to_owned()));
}

#[tokio::test]
async fn key_that_two_actors_claim_signs_for_its_owner_alone() {
    let scene = Scene::new().await;
    let bob = scene.liar.person("bob");
    let id = scene.liar.url("/keys/1");
    scene.liar.document("/keys/1", &key_document(&id, &bob.uri, &KEY));
    for person in [&bob, &scene.mallory] {
        person.change_actor(&json!({ "publicKey": { "id": id, "owner": person.uri, "publicKeyPem": KEY.public } }));
    }
    let lie = scene.signed(&scene.mallory, &id, &KEY);
    assert_eq!(scene.refuse(&lie).await, (401, "not_the_actor".to_owned()));
    assert!(!scene.knows(&scene.mallory.uri).await);
    assert_eq!(scene.deliver(&scene.signed(&bob, &id, &KEY)).await, "Follow ok");
}

#[tokio::test]
async fn key_under_the_id_of_someone_elses_key_does_not_sign() {
    let scene = Scene::new().await;
    let bob = scene.liar.person("bob");
    let own = json!({ "id": bob.key_id, "owner": bob.uri, "publicKeyPem": OTHER_KEY.public });
    bob.change_actor(&json!({ "publicKey": own }));
    let claimed = json!({ "id": bob.key_id, "owner": scene.mallory.uri, "publicKeyPem": KEY.public });
    scene.mallory.change_actor(&json!({ "publicKey": claimed }));
    scene.find(&scene.mallory).await;
    for person in [&bob, &scene.mallory] {
        let lie = scene.signed(person, &bob.key_id, &KEY);
        assert_eq!(scene.refuse(&lie).await, (401, "forged".to_owned()));
        scene.forgets_attempts().await;
    }
    assert_eq!(scene.deliver(&scene.signed(&bob, &bob.key_id, &OTHER_KEY)).await, "Follow ok");
}

#[tokio::test]
async fn key_of_another_host_with_an_owner_here_is_refused() {
    let scene = Scene::new().await;
    let id = scene.liar.url("/keys/1");
    for owner in
        [scene.alice_uri(""), "http://localhost:3000/actor".to_owned(), "http://LOCALHOST:3000/actor".to_owned()]
    {
        scene.liar.document("/keys/1", &key_document(&id, &owner, &KEY));
        let follow = with(scene.mallory.activity("Follow", scene.alice_uri("")), &json!({ "actor": owner }));
        let letter = Letter::new(&scene.app, "/inbox", follow.to_string()).signed(&id, &KEY);
        assert_eq!(scene.refuse(&letter).await, (401, "no_key".to_owned()), "{owner}");
        scene.forgets_attempts().await;
    }
}

#[tokio::test]
async fn key_document_that_names_another_owner_later_signs_for_one_at_a_time() {
    let scene = Scene::new().await;
    let (bob, eve) = (scene.liar.person("bob"), scene.liar.person("eve"));
    let id = scene.liar.url("/keys/1");
    let claim = |person: &Person, key: &Key| {
        scene.liar.document("/keys/1", &key_document(&id, &person.uri, key));
        let own = json!({ "id": id, "owner": person.uri, "publicKeyPem": key.public });
        person.change_actor(&json!({ "publicKey": own }));
    };
    claim(&bob, &KEY);
    assert_eq!(scene.deliver(&scene.signed(&bob, &id, &KEY)).await, "Follow ok");
    // The same key is still Bob's here, whatever its document says now.
    claim(&eve, &KEY);
    assert_eq!(scene.refuse(&scene.signed(&eve, &id, &KEY)).await, (401, "not_the_actor".to_owned()));
    // Another key under the same id is the new owner's.
    claim(&eve, &OTHER_KEY);
    scene.forgets_attempts().await;
    assert_eq!(scene.deliver(&scene.signed(&eve, &id, &OTHER_KEY)).await, "Follow ok");
    assert_eq!(scene.refuse(&scene.signed(&bob, &id, &OTHER_KEY)).await, (401, "not_the_actor".to_owned()));
}

#[tokio::test]
async fn one_of_several_keys_signs() {
    let scene = Scene::new().await;
    let mallory = &scene.mallory;
    let bob = Liar::start().await.person("bob");
    let key = |id: &str, owner: &str, key: &Key| json!({ "id": id, "owner": owner, "publicKeyPem": key.public });
    let (first, second) = (format!("{}#first", mallory.uri), format!("{}#second", mallory.uri));
    mallory.change_actor(&json!({ "publicKey": [
        key(&first, &bob.uri, &OTHER_KEY), key(&bob.key_id, &mallory.uri, &OTHER_KEY),
        { "id": first, "owner": mallory.uri, "publicKeyPem": "none" },
        key(&mallory.key_id, &mallory.uri, &KEY), key(&second, &mallory.uri, &OTHER_KEY),
    ] }));
    assert_eq!(scene.refuse(&scene.signed(mallory, &first, &OTHER_KEY)).await, (401, "forged".to_owned()));
    assert_eq!(scene.refuse(&scene.signed(mallory, &bob.key_id, &OTHER_KEY)).await, (401, "forged".to_owned()));
    assert_eq!(scene.refuse(&scene.signed(mallory, &second, &OTHER_KEY)).await, (401, "forged".to_owned()));
    assert_eq!(scene.deliver(&scene.signed(mallory, &mallory.key_id, &KEY)).await, "Follow ok");
}

/// A Multikey in base64url: its multicodec and the key.
fn multikey(id: &str, controller: &str, codec: [u8; 2], key: &[u8]) -> Value {
    let text = format!("u{}", URL_SAFE_NO_PAD.encode([&codec, key].concat()));
    json!({ "id": id, "type": "Multikey", "controller": controller, "publicKeyMultibase": text })
}

/// `key` as a Multikey: PKCS#1, which follows 24 bytes in the PEM.
fn rsa_multikey(id: &str, controller: &str, key: &Key) -> Value {
    let body: String = key.public.lines().filter(|line| !line.starts_with('-')).collect();
    multikey(id, controller, [0x85, 0x24], &STANDARD.decode(body).unwrap()[24..])
}

#[tokio::test]
async fn multikey_signs_for_the_actor_that_controls_it() {
    let scene = Scene::new().await;
    let mallory = &scene.mallory;
    let bob = scene.liar.person("bob");
    let (own, foreign) = (format!("{}#rsa-key", mallory.uri), format!("{}#rsa-key", bob.uri));
    bob.change_actor(&json!({ "publicKey": null, "assertionMethod": [rsa_multikey(&foreign, &mallory.uri, &KEY)] }));
    mallory.change_actor(&json!({ "publicKey": null, "assertionMethod": [
        format!("{}#elsewhere", mallory.uri), rsa_multikey(&own, &mallory.uri, &KEY),
        rsa_multikey(&format!("{}#other", mallory.uri), &bob.uri, &OTHER_KEY),
    ] }));
    assert_eq!(scene.refuse(&scene.signed(&bob, &foreign, &KEY)).await, (401, "no_key".to_owned()));
    assert_eq!(scene.refuse(&scene.signed(mallory, &own, &OTHER_KEY)).await, (401, "forged".to_owned()));
    assert_eq!(scene.deliver(&scene.signed(mallory, &own, &KEY)).await, "Follow ok");
}

#[tokio::test]
async fn ed25519_multikey_signs_by_rfc_9421_beside_the_key_in_pem() {
    let scene = Scene::new().await;
    let mallory = &scene.mallory;
    let pair = Ed25519KeyPair::generate().unwrap();
    let id = format!("{}#ed25519-key", mallory.uri);
    let public = multikey(&id, &mallory.uri, [0xed, 0x01], pair.public_key().as_ref());
    mallory.change_actor(&json!({ "assertionMethod": [public] }));
    let letter = |pair: &Ed25519KeyPair| {
        scene.app.tick();
        let follow = mallory.activity("Follow", scene.alice_uri("")).to_string();
        let digest = format!("sha-256=:{}:", STANDARD.encode(crypto::digest_sha256(follow.as_bytes())));
        let created = scene.app.app.clock.now().timestamp();
        let input =
            format!(r#"("@method" "@target-uri" "content-digest");created={created};keyid="{id}";alg="ed25519""#);
        let base = format!(
            "\"@method\": POST\n\"@target-uri\": http://localhost:3000/inbox\n\"content-digest\": {digest}\n\
             \"@signature-params\": {input}"
        );
        let signature = STANDARD.encode(pair.sign(base.as_bytes()));
        let letter = Letter::new(&scene.app, "/inbox", follow).header("content-digest", &digest);
        let letter = letter.header("signature-input", &format!("sig={input}"));
        letter.header("signature", &format!("sig=:{signature}:"))
    };
    assert_eq!(scene.deliver(&letter(&pair)).await, "Follow ok");
    assert_eq!(scene.deliver(&scene.signed(mallory, &mallory.key_id, &KEY)).await, "Follow ok");
    let other = Ed25519KeyPair::generate().unwrap();
    assert_eq!(scene.refuse(&letter(&other)).await, (401, "forged".to_owned()));
}

#[tokio::test]
async fn actor_whose_document_names_another_id_later_does_not_become_it() {
    let scene = Scene::new().await;
    let mallory = &scene.mallory;
    let eve = scene.liar.person("eve");
    let account = scene.find(mallory).await;
    let moved = json!({ "id": eve.uri, "publicKey": { "id": mallory.key_id, "owner": eve.uri, "publicKeyPem": OTHER_KEY.public } });
    mallory.change_actor(&moved);
    for person in [mallory, &eve] {
        let lie = scene.signed(person, &mallory.key_id, &OTHER_KEY);
        assert_eq!(scene.refuse(&lie).await, (401, "no_key".to_owned()));
        scene.forgets_attempts().await;
    }
    assert_eq!(scene.deliver(&scene.signed(mallory, &mallory.key_id, &KEY)).await, "Follow ok", "what is known stays");
    assert!(!scene.knows(&eve.uri).await);
    assert_eq!(scene.find(mallory).await["id"], account["id"]);
}

#[tokio::test]
async fn key_that_redirects_is_not_claimed() {
    let scene = Scene::new().await;
    let bob = Liar::start().await.person("bob");
    let open = scene.liar.put("/open", Reply::redirect(&scene.mallory.path()));
    let letter = scene.signed(&scene.mallory, &format!("{open}#main-key"), &KEY);
    assert_eq!(scene.refuse(&letter).await, (401, "no_key".to_owned()));
    // From Mallory's own address to someone else's document.
    scene.liar.put(&scene.mallory.path(), Reply::redirect(&bob.uri));
    scene.forgets_attempts().await;
    for person in [&scene.mallory, &bob] {
        let letter = scene.signed(person, &scene.mallory.key_id, &KEY);
        assert_eq!(scene.refuse(&letter).await, (401, "no_key".to_owned()));
        scene.forgets_attempts().await;
    }
    assert_eq!(scene.app.count("accounts WHERE domain IS NOT NULL").await, 0);
}

#[tokio::test]
async fn key_that_is_an_address_is_the_one_of_its_account() {
    let scene = Scene::new().await;
    let id = format!("acct:{}", scene.mallory.address());
    assert_eq!(scene.deliver(&scene.signed(&scene.mallory, &id, &KEY)).await, "Follow ok");
    assert_eq!(scene.deliver(&scene.signed(&scene.mallory, &id, &KEY)).await, "Follow ok");
    let bob = scene.liar.person("bob");
    assert_eq!(scene.refuse(&scene.signed(&bob, &id, &KEY)).await, (401, "not_the_actor".to_owned()));
    assert_eq!(scene.refuse(&scene.signed(&scene.mallory, &id, &OTHER_KEY)).await, (401, "forged".to_owned()));
    let here = Letter::new(&scene.app, "/inbox", bob.activity("Follow", scene.alice_uri("")).to_string());
    let here = here.signed("acct:alice@localhost:3000", &KEY);
    assert_eq!(scene.refuse(&here).await, (403, "own_domain".to_owned()));
}

#[tokio::test]
async fn activities_at_first_contact_wait_for_the_one_fetch() {
    let scene = Scene::new().await;
    let path = "/users/mallory";
    let letters: Vec<Letter> = (0..5).map(|_| scene.signed(&scene.mallory, &scene.mallory.key_id, &KEY)).collect();
    let answers = join_all(letters.iter().map(|letter| letter.send(&scene.app))).await;
    assert!(answers.iter().all(|answer| answer.status == 202), "{:?}", answers[1].text());
    assert_eq!(scene.liar.asked(path), 1);
    // A key that changed right after is fetched again.
    let changed = json!({ "id": scene.mallory.key_id, "owner": scene.mallory.uri, "publicKeyPem": OTHER_KEY.public });
    scene.mallory.change_actor(&json!({ "publicKey": changed }));
    let letter = scene.signed(&scene.mallory, &scene.mallory.key_id, &OTHER_KEY);
    assert_eq!(letter.send(&scene.app).await.status, 202);
    assert_eq!(scene.liar.asked(path), 2);
}

#[tokio::test]
async fn sender_whose_key_cannot_be_fetched_is_to_try_again() {
    let scene = Scene::new().await;
    scene.liar.put("/users/mallory", Reply::status(503, ""));
    let letter = || scene.signed(&scene.mallory, &scene.mallory.key_id, &KEY);
    assert_eq!(scene.refuse(&letter()).await, (503, "no_key".to_owned()));
    assert_eq!(scene.refuse(&letter()).await, (503, "no_key_yet".to_owned()));
    let refused = letter().send(&scene.app).await;
    assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (503, "60"));
    let said = refused.text();
    assert!(!said.contains("503") && !said.contains("status"), "nothing of what we saw: {said}");
    assert_eq!(scene.liar.asked("/users/mallory"), 1);
    scene.mallory.set_actor(&scene.mallory.actor());
    scene.forgets_attempts().await;
    assert_eq!(scene.deliver(&letter()).await, "Follow ok");
}

#[tokio::test]
async fn slow_keys_of_one_domain_leave_places_for_newcomers() {
    let keys = [
        ("ROOKERY_FEDERATION_ALLOW_PRIVATE_ADDRESSES", "127.0.0.0/8"),
        ("ROOKERY_SERVER_TRUSTED_PROXIES", "127.0.0.0/8"),
    ];
    let scene = Scene::with(&keys).await;
    let bob = Liar::at("127.0.0.2").await.person("bob");
    let letters: Vec<Letter> = (0..40)
        .map(|number| {
            let path = format!("/keys/{number}");
            scene.liar.put(&path, Reply::Silence);
            let letter = scene.signed(&scene.mallory, &scene.liar.url(&path), &OTHER_KEY);
            letter.header("x-forwarded-for", &format!("192.0.2.{number}"))
        })
        .collect();
    let attack = join_all(letters.iter().map(|letter| letter.send(&scene.app)));
    let honest = std::pin::pin!(async {
        // Which of the attack has places is not said by their order.
        while scene.liar.requests() == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
        let letter = scene.signed(&bob, &bob.key_id, &KEY).header("x-forwarded-for", "198.51.100.1");
        letter.send(&scene.app).await.status
    });
    // Requests of the attack that have a place end by a time limit, the others directly.
    let status = match select(honest, attack).await {
        Either::Left((status, _)) => status,
        Either::Right((_, honest)) => honest.await,
    };
    assert_eq!(status, 202);
    let asked = (0..40).filter(|number| scene.liar.asked(&format!("/keys/{number}")) > 0).count();
    assert!(asked <= 16, "{asked} places of one domain");
}
