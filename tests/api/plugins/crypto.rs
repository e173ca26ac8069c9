//! The group `crypto`: `plugins/crypto`, and the interfaces it depends on: scopes declared by plugins, tokens by id,
//! messages to the streams of one token, and sealed texts.

use std::collections::BTreeSet;

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use database::Engine;
use futures_util::future::join_all;
use plugins::admin;
use serde_json::{Value, json};
use service::oauth::revoke;

use super::groups::{served, settle, switch_off, switch_on};
use crate::harness::{Browser, Client, TestApp, ids};
use crate::jobs::removal::remove;
use crate::platform::contract::check;
use crate::routes::oauth::{Application, with_token};

const NAME: &str = "crypto";
const UPLOAD: &str = "/api/v1/crypto/keys/upload";
const QUERY: &str = "/api/v1/crypto/keys/query";
const CLAIM: &str = "/api/v1/crypto/keys/claim";
const COUNT: &str = "/api/v1/crypto/keys/count";
const DELIVER: &str = "/api/v1/crypto/deliveries";
const MESSAGES: &str = "/api/v1/crypto/encrypted_messages";
const CLEAR: &str = "/api/v1/crypto/encrypted_messages/clear";
/// Scopes of a client of this group.
const SCOPES: &str = "read write crypto";

fn pair(seed: u8) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap()
}

fn public(seed: u8) -> String {
    STANDARD_NO_PAD.encode(pair(seed).public_key().as_ref())
}

/// Parameters of an upload: the device `name`, with a key of `seed` and one-time keys.
fn upload(name: &str, seed: u8, keys: impl IntoIterator<Item = u8>) -> Value {
    let one = |key: u8| {
        let text = public(key);
        let signature = STANDARD.encode(pair(seed).sign(text.as_bytes()).as_ref());
        json!({ "key_id": format!("K{key}"), "key": text, "signature": signature })
    };
    json!({
        "device": {
            "device_id": name,
            "name": "Phone",
            "fingerprint_key": public(seed),
            "identity_key": public(seed + 1),
        },
        "one_time_keys": keys.into_iter().map(one).collect::<Vec<_>>(),
    })
}

/// A client of `person` with a separate token, and the device `name`.
pub(super) async fn device(person: &Client, name: &str, seed: u8, keys: impl IntoIterator<Item = u8>) -> Client {
    let client = person.with_scopes(SCOPES).await;
    client.post(UPLOAD).json(&upload(name, seed, keys)).ok().await;
    client
}

fn address(of: &Client, device: &str) -> Value {
    json!({ "account_id": of.id().to_string(), "device_id": device })
}

pub(super) fn letter(to: &Client, device: &str, body: &str) -> Value {
    json!({ "account_id": to.id().to_string(), "device_id": device, "type": 0, "body": body, "hmac": "aG1hYw" })
}

pub(super) async fn send(from: &Client, letters: Vec<Value>) {
    assert_eq!(from.post(DELIVER).json(&json!({ "device": letters })).ok().await, json!({}));
}

/// Names of the devices of `of` that `by` sees.
async fn seen(by: &Client, of: &Client) -> Vec<String> {
    let answer = by.post(QUERY).json(&json!({ "id": [of.id().to_string()] })).ok().await;
    check("DeviceQuery[]", &answer);
    let devices = answer[0]["devices"].as_array().expect("the account is there").iter();
    devices.map(|device| device["device_id"].as_str().unwrap().to_owned()).collect()
}

/// Number of rows of a table of the plugin.
async fn rows(app: &TestApp, table: &str) -> i64 {
    let name = match app.db().engine() {
        Engine::Sqlite => format!("p_crypto__{table}"),
        Engine::Postgres => format!("p_crypto.{table}"),
    };
    app.db().fetch_raw::<(i64,)>(&format!("SELECT COUNT(*) FROM {name}")).await.unwrap()[0].0
}

#[tokio::test]
async fn two_people_find_each_other_and_write() {
    let app = served(NAME).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let alice = alice.with_scopes(SCOPES).await;
    alice.get(COUNT).fails(404).await;
    let made = alice.post(UPLOAD).json(&upload("A", 1, 10..13)).ok().await;
    check("Device", &made);
    assert_eq!((&made["device_id"], &made["fingerprint_key"]), (&json!("A"), &json!(public(1))));
    assert_eq!(alice.get(COUNT).ok().await, json!({ "one_time_keys": 3 }));

    let bob = device(&bob, "B", 3, []).await;
    assert_eq!(seen(&bob, &alice).await, ["A"]);
    let asked = json!({ "id": ["1", alice.id().to_string(), "x", bob.id().to_string()] });
    let found = bob.post(QUERY).json(&asked).ok().await;
    let accounts: Vec<&Value> = found.as_array().unwrap().iter().map(|of| &of["account_id"]).collect();
    assert_eq!(accounts, [&json!(alice.id().to_string()), &json!(bob.id().to_string())]);

    let claims = json!({ "device": [address(&alice, "Z"), address(&alice, "A"), address(&bob, "B")] });
    let claimed = bob.post(CLAIM).json(&claims).ok().await;
    check("DeviceClaim[]", &claimed);
    assert_eq!(claimed.as_array().unwrap().len(), 1, "one is unknown, and one has none");
    assert_eq!(alice.get(COUNT).ok().await, json!({ "one_time_keys": 2 }));

    send(&bob, vec![letter(&alice, "A", "c2VjcmV0")]).await;
    let waiting = alice.get(MESSAGES).ok().await;
    check("EncryptedMessage[]", &waiting);
    let message = &waiting[0];
    assert_eq!(
        (&message["body"], &message["digest"], &message["device_id"]),
        (&json!("c2VjcmV0"), &json!("aG1hYw"), &json!("B"))
    );
    assert_eq!(message["account_id"], bob.id().to_string());
    let franking = json!({ "message_franking": message["message_franking"] });
    let said = admin::run(&app.plugins(), &model::Staff::operator(), NAME, "franking", &franking).await.unwrap();
    assert_eq!((&said["hmac"], &said["original_franking"]), (&json!("aG1hYw"), &Value::Null));
    assert_eq!(said["source_account_id"], bob.id().to_string());
    assert_eq!(said["target_account_id"], alice.id().to_string());
    assert_eq!(said["timestamp"], message["created_at"]);
    let mut forged = message["message_franking"].as_str().unwrap().to_owned();
    forged.replace_range(20..21, if &forged[20..21] == "A" { "B" } else { "A" });
    admin::run(&app.plugins(), &model::Staff::operator(), NAME, "franking", &json!({ "message_franking": forged }))
        .await
        .unwrap_err();

    alice.post(CLEAR).fails(422).await;
    assert_eq!(alice.post(CLEAR).form(&[("up_to_id", message["id"].as_str().unwrap())]).ok().await, json!({}));
    assert_eq!(alice.get(MESSAGES).ok().await, json!([]));
}

#[tokio::test]
async fn malformed_keys_are_refused_and_leave_nothing() {
    let app = served(NAME).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let client = alice.with_scopes(SCOPES).await;
    let good = upload("A", 1, [10, 11]);
    for (place, value) in [
        ("/device", json!(null)),
        ("/device", json!("A")),
        ("/device/device_id", json!("")),
        ("/device/device_id", json!("x".repeat(129))),
        ("/device/fingerprint_key", json!(null)),
        ("/device/fingerprint_key", json!(STANDARD.encode([[2; 1].as_slice(), &[0; 31]].concat()))),
        ("/device/fingerprint_key", json!(public(5))),
        ("/device/identity_key", json!("not base64!")),
        ("/device/identity_key", json!(STANDARD.encode([1; 33]))),
        ("/one_time_keys/1/key", json!(public(12))),
        ("/one_time_keys/1/key_id", json!("K10")),
        ("/one_time_keys/1/signature", json!(null)),
        ("/one_time_keys/1/signature", good["one_time_keys"][0]["signature"].clone()),
        ("/one_time_keys/1", json!("x")),
        ("/one_time_keys", json!("x")),
    ] {
        let mut body = good.clone();
        *body.pointer_mut(place).unwrap() = value;
        let why = client.post(UPLOAD).json(&body).fails(422).await;
        assert!(!why.is_empty(), "{body}");
        client.get(COUNT).fails(404).await;
    }
    assert_eq!((rows(&app, "devices").await, rows(&app, "one_time_keys").await), (0, 0));
    for (path, body) in [
        (CLAIM, json!({ "device": [address(&alice, "A")] })),
        (DELIVER, json!({ "device": [letter(&alice, "A", "x")] })),
        (CLEAR, json!({ "up_to_id": "1" })),
    ] {
        client.post(path).json(&body).fails(404).await;
    }
    client.get(MESSAGES).fails(404).await;

    let alice = device(&alice, "A", 1, 10..12).await;
    let bob = device(&bob, "B", 3, []).await;
    let mut bad = letter(&alice, "A", "x");
    bad["type"] = "nothing".into();
    for (letters, status) in [
        (vec![letter(&alice, "A", "x"), letter(&alice, "Z", "x")], 404),
        (vec![letter(&alice, "A", "x"), bad], 422),
        (vec![letter(&alice, "A", "x"), letter(&alice, "A", &"x".repeat(40_000))], 422),
        (vec![letter(&alice, "A", "x"); 101], 422),
    ] {
        bob.post(DELIVER).json(&json!({ "device": letters })).fails(status).await;
    }
    bob.post(DELIVER).json(&json!({ "device": "x" })).fails(422).await;
    bob.post(DELIVER).json(&json!({ "device": [letter(&alice, "A", &"x".repeat(2 << 20))] })).fails(413).await;
    assert_eq!(alice.get(MESSAGES).ok().await, json!([]));
    bob.post(CLAIM).json(&json!({ "device": vec![address(&alice, "A"); 101] })).fails(422).await;
    assert_eq!(alice.get(COUNT).ok().await, json!({ "one_time_keys": 2 }));
}

#[tokio::test]
async fn concurrent_claims_get_different_keys() {
    let app = served(NAME).await;
    let alice = app.account("alice").await;
    let phone = device(&alice, "A", 1, 10..18).await;
    let mut people = Vec::new();
    for number in 0..12_u8 {
        let person = app.account(&format!("person{number}")).await;
        people.push(device(&person, "D", 100 + 2 * number, []).await);
    }
    let asked = json!({ "device": [address(&alice, "A")] });
    let claimed = join_all(people.iter().take(8).map(|person| person.post(CLAIM).json(&asked).ok())).await;
    let keys: BTreeSet<String> = claimed.iter().map(|keys| keys[0]["key"].as_str().unwrap().to_owned()).collect();
    assert_eq!(keys.len(), 8, "{claimed:?}");
    assert_eq!(phone.get(COUNT).ok().await, json!({ "one_time_keys": 0 }));

    phone.post(UPLOAD).json(&upload("A", 1, 20..25)).ok().await;
    let claimed = join_all(people.iter().map(|person| person.post(CLAIM).json(&asked).ok())).await;
    let keys: Vec<&Value> = claimed.iter().flat_map(|keys| keys.as_array().unwrap()).map(|key| &key["key"]).collect();
    let different: BTreeSet<String> = keys.iter().map(ToString::to_string).collect();
    assert_eq!((keys.len(), different.len()), (5, 5), "{claimed:?}");
}

#[tokio::test]
async fn concurrent_messages_all_arrive_in_order_of_ids() {
    let app = served(NAME).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let (alice, bob) = (device(&alice, "A", 1, []).await, device(&bob, "B", 3, []).await);
    let mut people = Vec::new();
    for number in 0..8_u8 {
        let person = app.account(&format!("person{number}")).await;
        people.push(device(&person, "D", 10 + 2 * number, []).await);
    }
    let two = |number: usize| {
        let (first, second) = if number.is_multiple_of(2) { (&alice, "A") } else { (&bob, "B") };
        let (other, device) = if number.is_multiple_of(2) { (&bob, "B") } else { (&alice, "A") };
        vec![letter(first, second, &number.to_string()), letter(other, device, &number.to_string())]
    };
    join_all(people.iter().enumerate().map(|(number, person)| send(person, two(number)))).await;
    for client in [&alice, &bob] {
        let waiting = client.get(MESSAGES).ok().await;
        let bodies: BTreeSet<&str> =
            waiting.as_array().unwrap().iter().map(|one| one["body"].as_str().unwrap()).collect();
        assert_eq!(bodies.len(), 8);
        let numbers: Vec<i64> = ids(&waiting).iter().map(|id| id.parse().unwrap()).collect();
        assert!(numbers.is_sorted_by(|a, b| a > b), "{numbers:?}");
    }
}

#[tokio::test]
async fn message_box_is_paged() {
    let app = served(NAME).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    // The number of keys of one upload: their signatures are verified within the time limit of a call.
    let (alice, bob) = (device(&alice, "A", 1, 10..110).await, device(&bob, "B", 3, []).await);
    send(&bob, (0..90).map(|number| letter(&alice, "A", &format!("m{number}"))).collect()).await;
    let bodies = |page: &Value| -> Vec<String> {
        page.as_array().unwrap().iter().map(|message| message["body"].as_str().unwrap().to_owned()).collect()
    };
    let first = alice.get(MESSAGES).send().await;
    let page = first.json();
    assert_eq!((page.as_array().unwrap().len(), &page[0]["body"]), (80, &json!("m89")));
    let (newest, last) = (ids(&page)[0], ids(&page)[79]);
    let link = first.header("link");
    assert!(link.contains(&format!("max_id={last}>; rel=\"next\"")), "{link}");
    assert!(link.contains(&format!("min_id={newest}>; rel=\"prev\"")), "{link}");
    let rest = alice.get(&format!("{MESSAGES}?max_id={last}")).ok().await;
    assert_eq!(bodies(&rest), (0..10).rev().map(|number| format!("m{number}")).collect::<Vec<_>>());
    let two = alice.get(&format!("{MESSAGES}?min_id={last}&limit=2")).ok().await;
    assert_eq!(bodies(&two), ["m12", "m11"]);
    let two = alice.get(&format!("{MESSAGES}?since_id={last}&limit=2")).ok().await;
    assert_eq!(bodies(&two), ["m89", "m88"]);
    alice.post(CLEAR).json(&json!({ "up_to_id": last })).ok().await;
    assert_eq!(bodies(&alice.get(&format!("{MESSAGES}?min_id=0&limit=1")).ok().await), ["m11"]);
    assert_eq!(rows(&app, "messages").await, 79);
}

#[tokio::test]
async fn new_key_replaces_device_of_token() {
    let app = served(NAME).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let (phone, bob) = (device(&alice, "A", 1, 10..12).await, device(&bob, "B", 5, []).await);
    send(&bob, vec![letter(&alice, "A", "x")]).await;
    phone.post(UPLOAD).json(&upload("A", 3, [])).ok().await;
    assert_eq!(phone.get(COUNT).ok().await, json!({ "one_time_keys": 0 }));
    assert_eq!(phone.get(MESSAGES).ok().await, json!([]));
    phone.post(UPLOAD).json(&upload("C", 3, [])).ok().await;
    assert_eq!(seen(&bob, &alice).await, ["C"]);
    let laptop = alice.with_scopes(SCOPES).await;
    laptop.post(UPLOAD).json(&upload("C", 7, [])).fails(422).await;
    laptop.post(UPLOAD).json(&upload("D", 7, [])).ok().await;
    assert_eq!(seen(&bob, &alice).await, ["C", "D"]);
    send(&bob, vec![letter(&alice, "D", "for the laptop")]).await;
    assert_eq!(phone.get(MESSAGES).ok().await, json!([]));
    assert_eq!(laptop.get(MESSAGES).ok().await[0]["body"], "for the laptop");
}

#[tokio::test]
async fn devices_of_blocking_or_suspended_accounts_are_unreachable() {
    let app = served(NAME).await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let (phone, his) = (device(&alice, "A", 1, [10]).await, device(&bob, "B", 3, [11]).await);
    alice.block(&bob).ok().await;
    for (by, of, name) in [(&phone, &bob, "B"), (&his, &alice, "A")] {
        assert_eq!(seen(by, of).await, [""; 0]);
        assert_eq!(by.post(CLAIM).json(&json!({ "device": [address(of, name)] })).ok().await, json!([]));
        by.post(DELIVER).json(&json!({ "device": [letter(of, name, "x")] })).fails(404).await;
    }
    alice.unblock(&bob).ok().await;
    assert_eq!(seen(&his, &alice).await, ["A"]);
    let hers = device(&carol, "C", 5, []).await;
    app.suspend(&alice).await;
    let asked = hers.post(QUERY).json(&json!({ "id": [alice.id().to_string()] })).ok().await;
    assert_eq!(asked, json!([]));
    hers.post(DELIVER).json(&json!({ "device": [letter(&alice, "A", "x")] })).fails(404).await;
}

#[tokio::test]
async fn message_is_streamed_to_its_device_only() {
    let app = served(NAME).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let (phone, laptop) = (device(&alice, "A", 1, []).await, device(&alice, "L", 3, []).await);
    let bob = device(&bob, "B", 5, []).await;
    let (mut on_phone, mut again) = (phone.events("user").await, phone.events("user").await);
    let (mut on_laptop, mut bobs) = (laptop.events("user").await, bob.events("user").await);
    let public = phone.events("public").await;
    send(&bob, vec![letter(&alice, "A", "one"), letter(&alice, "A", "two")]).await;
    bob.post(DELIVER)
        .json(&json!({ "device": [letter(&alice, "A", "lost"), letter(&alice, "Z", "x")] }))
        .fails(404)
        .await;
    for events in [&mut on_phone, &mut again] {
        let told = app.told(&alice, events).await;
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told.iter().all(|event| event.name == "encrypted_message"));
        check("EncryptedMessage", &told[0].json());
        assert_eq!(told[0].json(), phone.get(&format!("{MESSAGES}?min_id=0&limit=1")).ok().await[0]);
    }
    assert_eq!(app.told(&alice, &mut on_laptop).await, []);
    assert_eq!(app.told(&bob, &mut bobs).await, []);
    revoke::one(&app.app, token_of(&app, "A").await.into()).await.unwrap();
    assert!(!public.rest().await.contains("encrypted_message"));
}

/// The token of a device.
async fn token_of(app: &TestApp, device: &str) -> i64 {
    let table = match app.db().engine() {
        Engine::Sqlite => "p_crypto__devices",
        Engine::Postgres => "p_crypto.devices",
    };
    let text = format!("SELECT token_id FROM {table} WHERE device_id = '{device}'");
    app.number(&text).await
}

/// A device with a token from the complete OAuth flow.
async fn by_oauth(app: &TestApp, browser: &Browser, name: &str, seed: u8) -> (Application, Client, String) {
    let application = Application::register(app, SCOPES).await;
    let token = application.sign_in(browser, SCOPES).await;
    let client = with_token(app, &token);
    client.post(UPLOAD).json(&upload(name, seed, [10])).ok().await;
    (application, client, token)
}

#[tokio::test]
async fn device_is_deleted_with_its_token() {
    let app = served(NAME).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let browser = Browser::signed_in(&app, "alice").await;
    let bob = device(&bob, "B", 3, []).await;
    let gone = async |name: &str| {
        assert_eq!(seen(&bob, &alice).await, [""; 0], "{name}: immediately");
        let claim = json!({ "device": [address(&alice, name)] });
        assert_eq!(bob.post(CLAIM).json(&claim).ok().await, json!([]));
        bob.post(DELIVER).json(&json!({ "device": [letter(&alice, name, "x")] })).fails(404).await;
        settle(&app).await;
        assert_eq!((rows(&app, "devices").await, rows(&app, "one_time_keys").await), (1, 0), "{name}");
        assert_eq!(rows(&app, "messages").await, 0);
    };

    // The application revokes it.
    let (application, client, token) = by_oauth(&app, &browser, "first", 20).await;
    send(&bob, vec![letter(&alice, "first", "x")]).await;
    assert_eq!(application.post("/oauth/revoke", &token).await.status, 200);
    gone("first").await;
    client.get(COUNT).fails(401).await;

    // The person revokes it.
    by_oauth(&app, &browser, "second", 22).await;
    send(&bob, vec![letter(&alice, "second", "x")]).await;
    let page = browser.get("/oauth/authorized_applications").await;
    let html = page.text();
    let start = html.find("action=\"/oauth/authorized_applications/").unwrap() + "action=\"".len();
    let action = html[start..].split('"').next().unwrap().to_owned();
    assert_eq!(browser.submit(&page, &action, &[]).await.status, 302);
    gone("second").await;

    // The password is reset.
    by_oauth(&app, &browser, "third", 24).await;
    let forgot = browser.get("/auth/password/new").await;
    browser.submit(&forgot, "/auth/password/new", &[("email", "alice@example.test")]).await;
    let page = browser.get(&app.mailed_link().await).await;
    let new = [("password", "something new"), ("password_confirmation", "something new")];
    assert_eq!(browser.submit(&page, "/auth/password/edit", &new).await.status, 302);
    gone("third").await;
}

#[tokio::test]
async fn plugin_data_is_exported_and_removed_with_account() {
    let app = served(NAME).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let (phone, his) = (device(&alice, "A", 1, [10, 11]).await, device(&bob, "B", 3, [12]).await);
    send(&his, vec![letter(&alice, "A", "for alice")]).await;
    send(&phone, vec![letter(&bob, "B", "for bob"), letter(&alice, "A", "a note")]).await;
    let given = store::plugin_data::export_account(app.db(), alice.id()).await.unwrap();
    let count = |table: &str| given["crypto"][table].as_array().unwrap_or_else(|| panic!("{given}")).len();
    assert_eq!((count("devices"), count("one_time_keys"), count("messages")), (1, 2, 2));
    remove(&app, "alice").await;
    settle(&app).await;
    let left = store::plugin_data::export_account(app.db(), alice.id()).await.unwrap();
    for (table, rows) in left["crypto"].as_object().unwrap() {
        assert_eq!(rows, &json!([]), "{table}");
    }
    assert_eq!(his.get(MESSAGES).ok().await, json!([]), "her messages are deleted as well");
    assert_eq!(his.get(COUNT).ok().await, json!({ "one_time_keys": 1 }));
}

#[tokio::test]
async fn scope_can_be_requested_while_its_plugin_is_enabled() {
    let app = served(NAME).await;
    app.account("alice").await;
    let browser = Browser::signed_in(&app, "alice").await;
    let register = async || {
        let new = json!({ "client_name": "c", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob", "scopes": SCOPES });
        app.anonymous().post("/api/v1/apps").json(&new).send().await
    };
    let supported = async || {
        let metadata = app.anonymous().get("/.well-known/oauth-authorization-server").ok().await;
        check("OAuthServerMetadata", &metadata);
        metadata["scopes_supported"].as_array().unwrap().contains(&json!("crypto"))
    };
    let described = async || {
        let document = app.anonymous().get("/api/openapi.json").ok().await;
        let scopes = "/components/securitySchemes/user/flows/authorizationCode/scopes/crypto";
        document.pointer(scopes).is_some()
    };
    let application = Application::register(&app, SCOPES).await;
    assert!(supported().await && described().await);
    let page = browser.get(&application.authorize(&[("scope", SCOPES)])).await;
    assert!(page.text().contains("Send and receive end-to-end encrypted messages"), "{}", page.text());
    let token = application.sign_in(&browser, SCOPES).await;
    let client = with_token(&app, &token);
    let narrow = with_token(&app, &application.sign_in(&browser, "read write").await);
    assert_eq!(client.get("/oauth/token/info").ok().await["scope"], json!(["read", "write", "crypto"]));
    client.get(COUNT).fails(404).await;
    narrow.get(COUNT).fails(403).await;
    let other = Application::register(&app, "read").await;
    let more = browser.get(&other.authorize(&[("scope", "read crypto")])).await;
    assert!(more.header("location").contains("error=invalid_scope"), "not what it registered for");

    switch_off(&app, NAME).await;
    assert_eq!(register().await.status, 422);
    assert!(!supported().await && !described().await);
    let refused = browser.get(&application.authorize(&[("scope", SCOPES)])).await;
    assert!(refused.header("location").contains("error=invalid_scope"), "{}", refused.header("location"));
    application.sign_in(&browser, "read").await;
    client.get("/api/v1/accounts/verify_credentials").ok().await;
    client.get(COUNT).fails(404).await;
    assert_eq!(browser.get("/oauth/authorized_applications").await.status, 200);

    switch_on(&app, NAME).await;
    client.post(UPLOAD).json(&upload("A", 1, [])).ok().await;
    assert_eq!(register().await.status, 200);
}

#[tokio::test]
async fn command_line_issues_tokens_with_declared_scopes() {
    let app = served(NAME).await;
    app.account("alice").await;
    let token = app.run(&["user", "token", "alice", "--scopes", "read crypto"]).await.ok();
    with_token(&app, &token).post(UPLOAD).json(&upload("A", 1, [])).ok().await;
    switch_off(&app, NAME).await;
    app.run(&["user", "token", "alice", "--scopes", "read crypto"]).await.fails(2);
}

#[tokio::test]
async fn tokens_revoked_while_disabled_are_swept() {
    let app = served(NAME).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let (phone, bob) = (device(&alice, "A", 1, [10]).await, device(&bob, "B", 3, []).await);
    switch_off(&app, NAME).await;
    for path in [COUNT, MESSAGES] {
        phone.get(path).fails(404).await;
    }
    for path in [UPLOAD, QUERY, CLAIM, DELIVER, CLEAR] {
        phone.post(path).fails(404).await;
    }
    let token = token_of(&app, "A").await;
    revoke::one(&app.app, token.into()).await.unwrap();
    switch_on(&app, NAME).await;
    settle(&app).await;
    assert_eq!(
        (rows(&app, "devices").await, seen(&bob, &alice).await.len()),
        (2, 0),
        "no event was sent, and it is invisible"
    );
    app.app.clock.advance(chrono::Duration::days(2));
    settle(&app).await;
    assert_eq!((rows(&app, "devices").await, rows(&app, "one_time_keys").await), (1, 0));
    let tablet = device(&alice, "A", 5, []).await;
    assert_eq!(seen(&bob, &alice).await, ["A"]);
    tablet.get(COUNT).ok().await;
}

#[tokio::test]
async fn cost_does_not_grow_with_devices() {
    let app = served(NAME).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let bob = device(&bob, "B", 1, []).await;
    for number in 0..6_u8 {
        device(&alice, &format!("A{number}"), 10 + 2 * number, 100..104).await;
    }
    settle(&app).await;
    app.known(&bob).await;
    let mut costs = Vec::new();
    for count in [1, 1, 6] {
        let names: Vec<String> = (0..count).map(|number| format!("A{number}")).collect();
        let (asked, _) = app.cost(bob.post(QUERY).json(&json!({ "id": [alice.id().to_string()] })).ok()).await;
        let claims: Vec<Value> = names.iter().map(|name| address(&alice, name)).collect();
        let (cost, claimed) = app.cost(bob.post(CLAIM).json(&json!({ "device": claims })).ok()).await;
        assert_eq!(claimed.as_array().unwrap().len(), count);
        costs.push((asked, cost));
    }
    assert_eq!(costs[1], costs[2], "{costs:?}");
    assert!(costs[1].0 <= 12 && costs[1].1 <= 20, "{costs:?}");
}
