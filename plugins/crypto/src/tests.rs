//! The routes, events and job, natively, against the SDK's fake server.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use ed25519_dalek::{Signer as _, SigningKey};
use rookery_plugin::prelude::*;
use rookery_plugin::test::Fake;
use serde_json::{Value, json};

use crate::Crypto;
use crate::message::Franking;

const UPLOAD: &str = "/api/v1/crypto/keys/upload";
const QUERY: &str = "/api/v1/crypto/keys/query";
const CLAIM: &str = "/api/v1/crypto/keys/claim";
const COUNT: &str = "/api/v1/crypto/keys/count";
const DELIVER: &str = "/api/v1/crypto/deliveries";
const MESSAGES: &str = "/api/v1/crypto/encrypted_messages";
const CLEAR: &str = "/api/v1/crypto/encrypted_messages/clear";

fn key(seed: u8) -> SigningKey {
    SigningKey::from_bytes(&[seed; 32])
}

fn public(seed: u8) -> String {
    STANDARD_NO_PAD.encode(key(seed).verifying_key().to_bytes())
}

/// One-time keys of the device with the fingerprint key of `signer`.
fn keys(signer: u8, seeds: impl IntoIterator<Item = u8>) -> Vec<Value> {
    let one = |seed: u8| {
        let text = public(seed);
        let signature = STANDARD.encode(key(signer).sign(text.as_bytes()).to_bytes());
        json!({ "key_id": format!("K{seed}"), "key": text, "signature": signature })
    };
    seeds.into_iter().map(one).collect()
}

fn device(name: &str, signer: u8) -> Value {
    json!({ "device_id": name, "name": "Phone", "fingerprint_key": public(signer), "identity_key": public(signer + 1) })
}

fn set_up(fake: &Fake, account: Id, name: &str, signer: u8, seeds: impl IntoIterator<Item = u8>) -> Value {
    let body = json!({ "device": device(name, signer), "one_time_keys": keys(signer, seeds) });
    fake.post(UPLOAD).as_account(account).json(body).send().ok()
}

fn letter(to: Id, device: &str, body: &str) -> Value {
    json!({ "account_id": to, "device_id": device, "type": 1, "body": body, "hmac": "h" })
}

#[expect(clippy::needless_pass_by_value, reason = "so that a test may write vec![…]")]
fn send(fake: &Fake, from: Id, letters: Vec<Value>) -> rookery_plugin::test::TestResponse {
    fake.post(DELIVER).as_account(from).json(json!({ "device": letters })).send()
}

fn inbox(fake: &Fake, account: Id, query: &str) -> Vec<Value> {
    let answer = fake.get(&format!("{MESSAGES}{query}")).as_account(account).send().ok();
    answer.as_array().unwrap().clone()
}

fn count(fake: &Fake, account: Id) -> Value {
    fake.get(COUNT).as_account(account).send().ok()["one_time_keys"].clone()
}

fn claim(fake: &Fake, by: Id, of: Id, device: &str) -> Value {
    let body = json!({ "device": [{ "account_id": of, "device_id": device }] });
    fake.post(CLAIM).as_account(by).json(body).send().ok()
}

#[test]
fn device_is_set_up_and_found_by_others() {
    let fake = Fake::new::<Crypto>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    let made = set_up(&fake, alice, "A", 1, 10..13);
    assert_eq!(
        made,
        json!({ "device_id": "A", "name": "Phone", "identity_key": public(2), "fingerprint_key": public(1) })
    );
    assert_eq!(count(&fake, alice), 3);
    fake.get(COUNT).as_account(bob).send().error(404);
    let asked = json!({ "id": [alice, "7", "x", bob, alice] });
    let found = fake.post(QUERY).as_account(bob).json(asked).send().ok();
    assert_eq!(found, json!([{ "account_id": alice, "devices": [made] }, { "account_id": bob, "devices": [] }]));
    let many: Vec<String> = (0..101).map(|id| id.to_string()).collect();
    fake.post(QUERY).as_account(bob).json(json!({ "id": many })).send().error(422);
}

#[test]
fn invalid_or_unsigned_keys_leave_nothing_behind() {
    let fake = Fake::new::<Crypto>();
    let alice = fake.account("alice");
    let refused = |device: Value, keys: Value| {
        let body = json!({ "device": device, "one_time_keys": keys });
        fake.post(UPLOAD).as_account(alice).json(body).send().error(422)
    };
    // A y coordinate to which there is no x, and a key of 31 bytes.
    let off_curve = STANDARD.encode([&[2_u8][..], &[0; 31]].concat());
    for (member, value) in [
        ("fingerprint_key", off_curve.as_str()),
        ("fingerprint_key", ""),
        ("identity_key", "no base64!"),
        ("identity_key", &STANDARD.encode([9_u8; 31])),
        ("identity_key", &off_curve),
        ("device_id", " "),
        ("name", &"n".repeat(129)),
    ] {
        let mut sent = device("A", 1);
        sent[member] = value.into();
        refused(sent, json!([]));
    }
    let [good, other] = <[Value; 2]>::try_from(keys(1, [10, 11])).unwrap();
    let changed = |member: &str, value: Value| {
        let mut key = good.clone();
        key[member] = value;
        key
    };
    for bad in [
        changed("key", off_curve.as_str().into()),
        changed("key", other["key"].clone()),
        changed("signature", other["signature"].clone()),
        changed("signature", "AAAA".into()),
        changed("key_id", "".into()),
        keys(2, [10])[0].clone(),
        json!({}),
        good.clone(),
    ] {
        refused(device("A", 1), json!([good, bad]));
    }
    let many: Vec<Value> = keys(1, 50..151);
    assert!(refused(device("A", 1), many.into()).contains("100"));
    assert!(fake.post(UPLOAD).as_account(alice).send().error(422).contains("Device"));
    fake.get(COUNT).as_account(alice).send().error(404);
    assert_eq!(fake.execute("DELETE FROM owners"), 0, "nothing was kept");
}

#[test]
fn upload_may_be_sent_again_and_no_key_changes() {
    let fake = Fake::new::<Crypto>();
    let alice = fake.account("alice");
    set_up(&fake, alice, "A", 1, 10..13);
    set_up(&fake, alice, "A", 1, 12..15);
    assert_eq!(count(&fake, alice), 5);
    let mut other = keys(1, [20]);
    other[0]["key_id"] = "K10".into();
    let body = json!({ "device": device("A", 1), "one_time_keys": other });
    fake.post(UPLOAD).as_account(alice).json(body).send().error(422);
    assert_eq!(count(&fake, alice), 5);
    set_up(&fake, alice, "A", 1, 100..200);
    set_up(&fake, alice, "A", 1, 20..95);
    let body = json!({ "device": device("A", 1), "one_time_keys": keys(1, 210..231) });
    assert!(fake.post(UPLOAD).as_account(alice).json(body).send().error(422).contains("200"));
    assert_eq!(count(&fake, alice), 180);
}

#[test]
fn each_key_is_claimed_once_and_in_no_order() {
    let fake = Fake::new::<Crypto>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    set_up(&fake, alice, "A", 1, 10..30);
    let body = json!({ "device": [{ "account_id": alice, "device_id": "A" }] });
    fake.post(CLAIM).as_account(bob).json(body).send().error(404);
    set_up(&fake, bob, "B", 3, []);
    let mut order = Vec::new();
    for left in (0..20).rev() {
        let claimed = claim(&fake, bob, alice, "A");
        let one = &claimed[0];
        assert_eq!((&one["account_id"], &one["device_id"]), (&json!(alice), &json!("A")));
        assert_eq!(one["key"], public(one["key_id"].as_str().unwrap()[1..].parse().unwrap()));
        order.push(one["key_id"].as_str().unwrap().to_owned());
        assert_eq!(count(&fake, alice), left);
    }
    assert_eq!(claim(&fake, bob, alice, "A"), json!([]), "none is left");
    let sorted: BTreeSet<String> = order.iter().cloned().collect();
    assert_eq!(sorted.len(), 20);
    assert_ne!(order, sorted.into_iter().collect::<Vec<_>>());
    assert_eq!(claim(&fake, bob, alice, "B"), json!([]));
    assert_eq!(claim(&fake, bob, bob, "B"), json!([]));
}

#[test]
fn keys_of_several_devices_are_claimed_together() {
    let fake = Fake::new::<Crypto>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    set_up(&fake, alice, "A", 1, [10]);
    let second = fake.token(alice);
    let body = json!({ "device": device("B", 3), "one_time_keys": keys(3, [11]) });
    fake.post(UPLOAD).with_token(second).json(body).send().ok();
    set_up(&fake, bob, "A", 5, [12]);
    let address = |account: Id, device: &str| json!({ "account_id": account, "device_id": device });
    let all = [address(bob, "A"), address(alice, "B"), address(bob, "Z"), address(alice, "A"), address(bob, "A")];
    let claimed = fake.post(CLAIM).as_account(bob).json(json!({ "device": all })).send().ok();
    let ids: Vec<&str> = claimed.as_array().unwrap().iter().map(|key| key["key_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["K12", "K11", "K10"]);
}

#[test]
fn other_keys_make_another_device() {
    let fake = Fake::new::<Crypto>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    set_up(&fake, bob, "B", 5, []);
    for change in [device("A", 3), device("C", 3), {
        let mut other = device("C", 3);
        other["identity_key"] = public(9).into();
        other
    }] {
        set_up(&fake, alice, "A", 1, [10]);
        send(&fake, bob, vec![letter(alice, "A", "x")]).ok();
        let mut renamed = device("A", 1);
        renamed["name"] = "Tablet".into();
        fake.post(UPLOAD).as_account(alice).json(json!({ "device": renamed })).send().ok();
        assert_eq!((count(&fake, alice), inbox(&fake, alice, "").len()), (json!(1), 1), "a name changes nothing");
        fake.post(UPLOAD).as_account(alice).json(json!({ "device": change })).send().ok();
        assert_eq!((count(&fake, alice), inbox(&fake, alice, "").len()), (json!(0), 0));
    }
}

#[test]
fn two_tokens_of_a_person_have_two_devices() {
    let fake = Fake::new::<Crypto>();
    let alice = fake.account("alice");
    set_up(&fake, alice, "A", 1, []);
    let second = fake.token(alice);
    let taken = fake.post(UPLOAD).with_token(second).json(json!({ "device": device("A", 3) })).send();
    assert!(taken.error(422).contains("taken"));
    fake.post(UPLOAD).with_token(second).json(json!({ "device": device("B", 3) })).send().ok();
    fake.state(|state| state.tokens.remove(&alice.0));
    let third = fake.token(alice);
    fake.post(UPLOAD).with_token(third).json(json!({ "device": device("A", 5) })).send().ok();
    let found = fake.post(QUERY).with_token(third).json(json!({ "id": [alice] })).send().ok();
    let names: Vec<&Value> = found[0]["devices"].as_array().unwrap().iter().map(|one| &one["device_id"]).collect();
    assert_eq!(names, ["B", "A"], "the first one's token is gone");
}

#[test]
fn fifty_devices_are_enough() {
    let fake = Fake::new::<Crypto>();
    let alice = fake.account("alice");
    for number in 0..50 {
        let token = fake.token(alice);
        let body = json!({ "device": device(&number.to_string(), 1) });
        fake.post(UPLOAD).with_token(token).json(body).send().ok();
    }
    fake.post(UPLOAD).as_account(alice).json(json!({ "device": device("A", 1) })).send().error(422);
}

#[test]
fn message_reaches_its_device_and_its_stream() {
    let fake = Fake::new::<Crypto>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    set_up(&fake, alice, "A", 1, []);
    set_up(&fake, bob, "B", 3, []);
    assert_eq!(send(&fake, bob, vec![letter(alice, "A", "one"), letter(alice, "A", "two")]).ok(), json!({}));
    let got = inbox(&fake, alice, "");
    assert_eq!(got.iter().map(|message| &message["body"]).collect::<Vec<_>>(), ["two", "one"]);
    assert_eq!(
        got[1],
        json!({
            "id": got[1]["id"], "account_id": bob, "device_id": "B", "type": 1, "body": "one", "digest": "h",
            "message_franking": got[1]["message_franking"], "created_at": "2024-01-01T12:00:00.000Z",
        })
    );
    let published = fake.state(|state| state.published.clone());
    assert_eq!(published.len(), 2);
    assert_eq!(
        (published[0].topic.as_str(), published[0].event.as_str()),
        (&*format!("token:{alice}"), "encrypted_message")
    );
    assert_eq!(serde_json::from_str::<Value>(&published[0].payload).unwrap(), got[1]);
    let said = fake.command("franking", &json!({ "message_franking": got[1]["message_franking"] })).unwrap();
    let sealed: Franking = serde_json::from_value(said).unwrap();
    assert_eq!((sealed.hmac.as_str(), sealed.source_account_id, sealed.target_account_id), ("h", bob, alice));
    assert_eq!((sealed.timestamp.as_str(), sealed.original_franking), ("2024-01-01T12:00:00.000Z", None));
    assert!(fake.command("franking", &json!({ "message_franking": "ab" })).is_err());
    assert_eq!(inbox(&fake, bob, ""), Vec::<Value>::new());
}

#[test]
fn one_unknown_device_or_bad_message_keeps_all_back() {
    let fake = Fake::new::<Crypto>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    set_up(&fake, alice, "A", 1, []);
    send(&fake, bob, vec![letter(alice, "A", "x")]).error(404);
    set_up(&fake, bob, "B", 3, []);
    let good = || letter(alice, "A", "x");
    let with = |member: &str, value: Value| {
        let mut letter = good();
        letter[member] = value;
        letter
    };
    for (bad, status) in [
        (letter(alice, "Z", "x"), 404),
        (letter(Id(7), "A", "x"), 404),
        (with("account_id", "x".into()), 404),
        (with("type", Value::Null), 422),
        (with("type", "x".into()), 422),
        (with("type", (-1).into()), 422),
        (with("body", "".into()), 422),
        (with("body", "x".repeat((32 << 10) + 1).into()), 422),
        (with("body", "\u{1}".repeat(32 << 10).into()), 422),
        (with("hmac", Value::Null), 422),
        (with("hmac", "x".repeat(257).into()), 422),
    ] {
        send(&fake, bob, vec![good(), bad.clone(), good()]).error(status);
        assert_eq!(inbox(&fake, alice, ""), Vec::<Value>::new(), "{bad}");
        assert_eq!(fake.state(|state| state.published.len()), 0);
    }
    send(&fake, bob, vec![good(); 101]).error(422);
    assert_eq!(send(&fake, bob, Vec::new()).ok(), json!({}));
}

#[test]
fn pages_follow_one_another_and_read_messages_are_cleared() {
    let fake = Fake::new::<Crypto>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    set_up(&fake, alice, "A", 1, []);
    set_up(&fake, bob, "B", 3, []);
    for part in 0..2 {
        send(&fake, bob, (0..50).map(|n| letter(alice, "A", &(part * 50 + n).to_string())).collect()).ok();
    }
    let bodies = |page: &[Value]| -> Vec<i64> {
        page.iter().map(|message| message["body"].as_str().unwrap().parse().unwrap()).collect()
    };
    let newest = inbox(&fake, alice, "?limit=500");
    assert_eq!(bodies(&newest), (20..100).rev().collect::<Vec<_>>());
    let oldest = newest[79]["id"].as_str().unwrap();
    assert_eq!(bodies(&inbox(&fake, alice, &format!("?max_id={oldest}"))), (0..20).rev().collect::<Vec<_>>());
    assert_eq!(bodies(&inbox(&fake, alice, &format!("?min_id={oldest}&limit=2"))), [22, 21]);
    assert_eq!(bodies(&inbox(&fake, alice, &format!("?since_id={oldest}&limit=2"))), [99, 98]);
    let asked = |up_to: Value| fake.post(CLEAR).as_account(alice).json(json!({ "up_to_id": up_to })).send();
    asked(Value::Null).error(422);
    asked("x".into()).error(422);
    assert_eq!(asked(oldest.into()).ok(), json!({}));
    assert_eq!(bodies(&inbox(&fake, alice, "?min_id=0&limit=1")), [21]);
    fake.post(CLEAR).as_account(fake.account("carol")).json(json!({ "up_to_id": oldest })).send().error(404);
}

#[test]
fn ids_grow_although_the_clock_goes_back() {
    let fake = Fake::new::<Crypto>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    set_up(&fake, alice, "A", 1, []);
    set_up(&fake, bob, "B", 3, []);
    send(&fake, bob, vec![letter(alice, "A", "first")]).ok();
    let first = inbox(&fake, alice, "")[0]["id"].as_str().unwrap().to_owned();
    fake.post(CLEAR).as_account(alice).json(json!({ "up_to_id": first })).send().ok();
    fake.advance(-60_000);
    send(&fake, bob, vec![letter(alice, "A", "second")]).ok();
    let next = inbox(&fake, alice, &format!("?since_id={first}"));
    assert_eq!(next[0]["body"], "second");
}

#[test]
fn full_inbox_refuses_messages_and_no_sender_fills_it_alone() {
    let fake = Fake::new::<Crypto>();
    let alice = fake.account("alice");
    set_up(&fake, alice, "D", 1, []);
    let some = |count: usize| vec![letter(alice, "D", "x"); count];
    for number in 0..5_u8 {
        let sender = fake.account(&format!("sender{number}"));
        set_up(&fake, sender, "D", 10 + 2 * number, []);
        send(&fake, sender, some(100)).ok();
        send(&fake, sender, some(99)).ok();
        send(&fake, sender, some(2)).error(422);
        send(&fake, sender, some(1)).ok();
    }
    let late = fake.account("late");
    set_up(&fake, late, "D", 30, []);
    assert!(send(&fake, late, some(1)).error(422).contains("device D"));
    let read = inbox(&fake, alice, "?limit=1")[0]["id"].clone();
    fake.post(CLEAR).as_account(alice).json(json!({ "up_to_id": read })).send().ok();
    send(&fake, late, some(1)).ok();
}

#[test]
fn no_account_claims_all_keys_of_a_device() {
    let fake = Fake::new::<Crypto>();
    let (alice, bob, carol) = (fake.account("alice"), fake.account("bob"), fake.account("carol"));
    set_up(&fake, alice, "A", 1, 10..60);
    set_up(&fake, bob, "B", 3, []);
    set_up(&fake, carol, "C", 5, []);
    for _ in 0..20 {
        assert_ne!(claim(&fake, bob, alice, "A"), json!([]));
    }
    assert_eq!(claim(&fake, bob, alice, "A"), json!([]), "others need some as well");
    assert_eq!(count(&fake, alice), 30);
    assert_ne!(claim(&fake, carol, alice, "A"), json!([]));
    fake.advance(60 * 60 * 1000);
    assert_ne!(claim(&fake, bob, alice, "A"), json!([]));
    assert_eq!(fake.execute("DELETE FROM claims"), 2);
}

#[test]
fn claims_of_one_person_have_a_limit_in_all() {
    let fake = Fake::new::<Crypto>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    set_up(&fake, alice, "A", 1, 10..60);
    set_up(&fake, bob, "B", 3, []);
    claim(&fake, bob, alice, "A");
    assert_eq!(fake.execute("UPDATE claims SET count = 999"), 1);
    let second = fake.token(alice);
    let body = json!({ "device": device("Z", 7), "one_time_keys": keys(7, [70, 71]) });
    fake.post(UPLOAD).with_token(second).json(body).send().ok();
    assert_ne!(claim(&fake, bob, alice, "Z"), json!([]));
    let asked = json!({ "device": [{ "account_id": alice, "device_id": "Z" }] });
    fake.post(CLAIM).as_account(bob).json(asked).send().error(429);
}

#[test]
fn bytes_that_wait_have_limits_for_a_pair_and_a_person() {
    let fake = Fake::new::<Crypto>();
    let alice = fake.account("alice");
    set_up(&fake, alice, "A", 1, []);
    let large = |count: usize| vec![letter(alice, "A", &"x".repeat(32 << 10)); count];
    for number in 0..4_u8 {
        let sender = fake.account(&format!("sender{number}"));
        set_up(&fake, sender, "D", 10 + 2 * number, []);
        send(&fake, sender, large(60)).ok();
        send(&fake, sender, large(60)).ok();
        assert!(send(&fake, sender, large(10)).error(422).contains("wait for the account"), "4 MiB of one sender");
    }
    let late = fake.account("late");
    set_up(&fake, late, "D", 30, []);
    assert!(send(&fake, late, large(60)).error(422).contains("wait for the account"), "16 MiB of all");
    send(&fake, late, vec![letter(alice, "A", "short")]).ok();
}

#[test]
fn messages_of_one_sender_have_a_limit() {
    let fake = Fake::new::<Crypto>();
    let bob = fake.account("bob");
    set_up(&fake, bob, "B", 1, []);
    for number in 0..9_u8 {
        let other = fake.account(&format!("other{number}"));
        set_up(&fake, other, "D", 10 + 2 * number, []);
        let large = |count: usize| vec![letter(other, "D", &"x".repeat(32 << 10)); count];
        let first = send(&fake, bob, large(60));
        if number == 8 {
            assert!(first.error(422).contains("of yours wait for others"), "32 MiB");
        } else {
            first.ok();
            send(&fake, bob, large(60)).ok();
        }
    }
}

#[test]
fn unread_messages_expire_a_part_at_a_time() {
    let fake = Fake::new::<Crypto>();
    let alice = fake.account("alice");
    set_up(&fake, alice, "A", 1, [10]);
    let senders: Vec<Id> = (0..8).map(|number| fake.account(&format!("sender{number}"))).collect();
    for (sender, signer) in senders.iter().zip((20..).step_by(2)) {
        set_up(&fake, *sender, "D", signer, []);
        claim(&fake, *sender, alice, "A");
        for _ in 0..8 {
            send(&fake, *sender, vec![letter(alice, "A", "x"); 10]).ok();
            fake.advance(1);
        }
    }
    fake.job("expire", "{}").unwrap();
    assert_eq!((fake.run_jobs(), inbox(&fake, alice, "").len()), (0, 80));
    fake.advance(30 * 24 * 60 * 60 * 1000 - 10);
    send(&fake, senders[0], vec![letter(alice, "A", "late")]).ok();
    fake.advance(20);
    fake.job("expire", "{}").unwrap();
    assert!(fake.run_jobs() >= 1);
    let left = inbox(&fake, alice, "");
    assert_eq!(left.iter().map(|message| &message["body"]).collect::<Vec<_>>(), ["late"]);
    assert_eq!(fake.execute("DELETE FROM claims"), 0);
}

#[test]
fn who_blocks_or_is_blocked_reaches_no_device() {
    let fake = Fake::new::<Crypto>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    set_up(&fake, alice, "A", 1, 10..20);
    set_up(&fake, bob, "B", 3, 30..40);
    fake.block(alice, bob);
    for (by, of, device) in [(alice, bob, "B"), (bob, alice, "A")] {
        let found = fake.post(QUERY).as_account(by).json(json!({ "id": [of] })).send().ok();
        assert_eq!(found, json!([{ "account_id": of, "devices": [] }]));
        assert_eq!(claim(&fake, by, of, device), json!([]));
        send(&fake, by, vec![letter(of, device, "x")]).error(404);
    }
    assert_eq!((count(&fake, alice), count(&fake, bob)), (json!(10), json!(10)));
}

#[test]
fn device_goes_with_its_token() {
    let fake = Fake::new::<Crypto>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    set_up(&fake, alice, "A", 1, [10]);
    set_up(&fake, bob, "B", 3, [11]);
    send(&fake, bob, vec![letter(alice, "A", "x")]).ok();
    fake.state(|state| state.tokens.remove(&alice.0));
    let found = fake.post(QUERY).as_account(bob).json(json!({ "id": [alice] })).send().ok();
    assert_eq!(found[0]["devices"], json!([]), "at once, before the event comes");
    assert_eq!(claim(&fake, bob, alice, "A"), json!([]));
    send(&fake, bob, vec![letter(alice, "A", "x")]).error(404);
    fake.events(&[fake.event("token.revoked", Some(alice), Subject::Id(alice.0))]).unwrap();
    assert_eq!(fake.execute("DELETE FROM devices WHERE device_id = 'A'"), 0);
    assert_eq!(fake.execute("DELETE FROM messages"), 0);
    assert_eq!(fake.execute("DELETE FROM one_time_keys"), 1, "bob's");
}

#[test]
fn messages_go_with_their_sender() {
    let fake = Fake::new::<Crypto>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    set_up(&fake, alice, "A", 1, []);
    set_up(&fake, bob, "B", 3, []);
    send(&fake, bob, vec![letter(alice, "A", "x")]).ok();
    send(&fake, alice, vec![letter(alice, "A", "a note to herself")]).ok();
    fake.events(&[fake.event("account.purged", None, Subject::Id(bob.0))]).unwrap();
    let left = inbox(&fake, alice, "");
    assert_eq!(left.iter().map(|message| &message["body"]).collect::<Vec<_>>(), ["a note to herself"]);
}

#[test]
fn devices_without_token_are_swept_a_part_at_a_time() {
    let fake = Fake::new::<Crypto>();
    let alice = fake.account("alice");
    set_up(&fake, alice, "A", 1, []);
    fake.execute(&format!(
        "INSERT INTO devices (account_id, token_id, device_id, name, fingerprint_key, identity_key, last_message)
         SELECT {alice}, 5000 + value, value, '', '', '', 0 FROM json_each('[0{}]')",
        (1..2_500).map(|number| format!(",{number}")).collect::<String>()
    ));
    fake.job("sweep", r#"{"schedule":"25 3 * * *"}"#).unwrap();
    assert_eq!(fake.run_jobs(), 2);
    assert_eq!(fake.execute("DELETE FROM devices"), 1, "the one with a token is left");
}
