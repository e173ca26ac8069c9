//! The routes, events and decorations, natively, against the SDK's fake server.

use rookery_plugin::prelude::*;
use rookery_plugin::test::Fake;
use serde_json::{Value, json};

use crate::Collections;

pub(crate) const COLLECTIONS: &str = "/api/v1/collections";

/// A server with these accounts, all of them discoverable.
pub(crate) fn server<const N: usize>(names: [&str; N]) -> (Fake, [Id; N]) {
    let fake = Fake::new::<Collections>();
    let accounts = names.map(|name| fake.account(name));
    for account in accounts {
        fake.discoverable(account);
    }
    (fake, accounts)
}

fn create(fake: &Fake, owner: Id, sent: Value) -> Value {
    fake.post(COLLECTIONS).as_account(owner).json(sent).send().ok()["collection"].clone()
}

/// An unlisted collection with these accounts.
pub(crate) fn of(fake: &Fake, owner: Id, accounts: &[Id]) -> String {
    let made = create(fake, owner, json!({ "name": "Rooks", "account_ids": accounts }));
    format!("{COLLECTIONS}/{}", made["id"].as_str().unwrap())
}

fn add(fake: &Fake, owner: Id, path: &str, account: Id) -> rookery_plugin::test::TestResponse {
    fake.post(&format!("{path}/items")).as_account(owner).json(json!({ "account_id": account })).send()
}

fn seen(fake: &Fake, viewer: Option<Id>, path: &str) -> Value {
    let request = fake.get(path);
    match viewer {
        Some(viewer) => request.as_account(viewer),
        None => request,
    }
    .send()
    .ok()
}

/// The accounts that a viewer finds listed.
pub(crate) fn listed(fake: &Fake, viewer: Option<Id>, path: &str) -> Vec<String> {
    let items = seen(fake, viewer, path)["collection"]["items"].clone();
    items.as_array().unwrap().iter().map(|item| item["account_id"].as_str().unwrap().to_owned()).collect()
}

pub(crate) fn item(fake: &Fake, viewer: Id, path: &str, account: Id) -> Value {
    let items = seen(fake, Some(viewer), path)["collection"]["items"].clone();
    let is_of = |item: &&Value| item["account_id"] == account.to_string();
    items.as_array().unwrap().iter().find(is_of).unwrap().clone()
}

fn item_path(fake: &Fake, viewer: Id, path: &str, account: Id) -> String {
    format!("{path}/items/{}", item(fake, viewer, path, account)["id"].as_str().unwrap())
}

pub(crate) fn texts(ids: &[Id]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

/// Kinds and receivers of the notifications that there are.
pub(crate) fn notified(fake: &Fake) -> Vec<(String, i64)> {
    fake.state(|state| state.notifications.iter().map(|one| (one.kind.clone(), one.to)).collect())
}

#[test]
fn collection_is_shown_as_documented() {
    let (fake, [alice, bob, carol]) = server(["alice", "bob", "carol"]);
    let sent = json!({
        "name": " Rooks ", "description": "Black & <loud>", "language": "en", "tag_name": "#Birds", "sensitive": true,
        "discoverable": true, "account_ids": [carol, bob, carol],
    });
    let made = create(&fake, alice, sent);
    let id = made["id"].as_str().unwrap();
    let time = "2024-01-01T12:00:00.000Z";
    let entry = |account: Id, at: usize| {
        let id = &made["items"][at]["id"];
        json!({ "id": id, "account_id": account, "state": "accepted", "created_at": time })
    };
    let wanted = json!({
        "id": id, "account_id": alice, "uri": format!("https://rookery.example/users/alice/collections/{id}"),
        "url": format!("https://rookery.example/collections/{id}"), "name": "Rooks",
        "description": "Black &amp; &lt;loud&gt;", "language": "en", "local": true, "sensitive": true,
        "discoverable": true, "tag": { "name": "birds", "url": "https://rookery.example/tags/birds" },
        "item_count": 2, "items": [entry(carol, 0), entry(bob, 1)], "created_at": time, "updated_at": time,
    });
    assert_eq!(made, wanted);
    let shown = seen(&fake, None, &format!("{COLLECTIONS}/{id}"));
    assert_eq!(shown["collection"], wanted);
    let names: Vec<&str> =
        shown["accounts"].as_array().unwrap().iter().map(|one| one["acct"].as_str().unwrap()).collect();
    assert_eq!(names, ["alice", "carol", "bob"]);
}

#[test]
fn new_collection_is_empty_unlisted_and_plain_by_default() {
    let (fake, [alice]) = server(["alice"]);
    let made = create(&fake, alice, json!({ "name": "Rooks" }));
    for (member, value) in [
        ("description", json!("")),
        ("language", json!(null)),
        ("tag", json!(null)),
        ("sensitive", json!(false)),
        ("discoverable", json!(false)),
        ("item_count", json!(0)),
        ("items", json!([])),
    ] {
        assert_eq!(made[member], value, "{member}");
    }
}

#[test]
fn wrong_parameters_are_named() {
    let (fake, [alice, bob]) = server(["alice", "bob"]);
    for (sent, why) in [
        (json!({}), "Name can't be blank"),
        (json!({ "name": " " }), "Name can't be blank"),
        (json!({ "name": "x".repeat(41) }), "Name is too long (maximum is 40 characters)"),
        (json!({ "name": "x", "description": "x".repeat(101) }), "Description is too long"),
        (json!({ "name": "x", "language": "english" }), "Language"),
        (json!({ "name": "x", "tag_name": "two words" }), "Tag name"),
        (json!({ "name": "x", "tag_name": "x".repeat(101) }), "Tag name"),
        (json!({ "name": "x", "sensitive": ["no"] }), "sensitive"),
        (json!({ "name": "x", "account_ids": ["bob"] }), "account_ids"),
        (json!({ "name": "x", "account_ids": [bob, "999"] }), "cannot be added"),
        (json!({ "name": "x", "account_ids": (1..27).collect::<Vec<_>>() }), "at most 25"),
    ] {
        let said = fake.post(COLLECTIONS).as_account(alice).json(sent.clone()).send().error(422);
        assert!(said.contains(why), "{sent}: {said}");
    }
    assert_eq!(fake.execute("DELETE FROM collections"), 0, "nothing was made");
    fake.post(COLLECTIONS).json(json!({ "name": "x" })).send().error(401);
    let without_scope = fake.post(COLLECTIONS).as_account(alice).with_scopes(&["read"]).json(json!({ "name": "x" }));
    without_scope.send().error(403);
}

#[test]
fn person_has_as_many_collections_as_configured() {
    let (fake, [alice, bob]) = server(["alice", "bob"]);
    for _ in 0..10 {
        create(&fake, alice, json!({ "name": "Rooks" }));
    }
    assert!(fake.post(COLLECTIONS).as_account(alice).json(json!({ "name": "x" })).send().error(422).contains("10"));
    create(&fake, bob, json!({ "name": "Rooks" }));
    fake.configure("max_per_person", 11);
    create(&fake, alice, json!({ "name": "Rooks" }));
}

#[test]
fn only_the_owner_changes_a_collection() {
    let (fake, [alice, bob, carol]) = server(["alice", "bob", "carol"]);
    let path = of(&fake, alice, &[carol]);
    let entry = item_path(&fake, alice, &path, carol);
    for request in [fake.patch(&path), fake.put(&path), fake.delete(&path), fake.delete(&entry)] {
        request.as_account(bob).json(json!({ "name": "mine" })).send().error(403);
    }
    add(&fake, bob, &path, bob).error(403);
    let missing = format!("{COLLECTIONS}/999");
    for request in [fake.get(&missing), fake.patch(&missing), fake.delete(&missing)] {
        request.as_account(alice).send().error(404);
    }
    add(&fake, alice, &missing, bob).error(404);
    fake.delete(&format!("{path}/items/999")).as_account(alice).send().error(404);
    let other = of(&fake, alice, &[]);
    fake.delete(&entry.replace(&path, &other)).as_account(alice).send().error(404);
    assert_eq!(fake.delete(&entry).as_account(alice).send().ok(), json!({}));
    assert_eq!(listed(&fake, None, &path), [""; 0]);
    assert_eq!(fake.delete(&path).as_account(alice).send().ok(), json!({}));
    fake.get(&path).send().error(404);
}

#[test]
fn update_changes_sent_values_only() {
    let (fake, [alice, bob]) = server(["alice", "bob"]);
    let made = create(&fake, alice, json!({ "name": "Rooks", "tag_name": "birds", "account_ids": [bob] }));
    let path = format!("{COLLECTIONS}/{}", made["id"].as_str().unwrap());
    let patch = |sent: Value| fake.patch(&path).as_account(alice).json(sent).send();
    fake.advance(1_000);
    assert_eq!(patch(json!({})).ok()["collection"], made, "nothing sent changes nothing");
    let changed = patch(json!({ "name": "Crows", "tag_name": null, "language": "de", "discoverable": true })).ok();
    let changed = &changed["collection"];
    assert_eq!(
        (&changed["name"], &changed["tag"], &changed["language"]),
        (&json!("Crows"), &json!(null), &json!("de"))
    );
    assert_eq!((&changed["discoverable"], &changed["items"]), (&json!(true), &made["items"]));
    assert_eq!(changed["created_at"], made["created_at"]);
    assert_eq!(changed["updated_at"], "2024-01-01T12:00:01.000Z");
    patch(json!({ "name": "" })).error(422);
    let form = fake.patch(&path).as_account(alice).form(&[("sensitive", "true"), ("description", "loud")]).send().ok();
    assert_eq!((&form["collection"]["sensitive"], &form["collection"]["description"]), (&json!(true), &json!("loud")));
}

#[test]
fn account_is_added_with_its_consent_only() {
    let names = ["alice", "bob", "locked", "follows", "shy", "gone", "blocked", "blocking", "dan@other.example"];
    let (fake, [alice, bob, locked, follows, shy, gone, blocked, blocking, remote]) = server(names);
    fake.state(|state| {
        state.discoverable.remove(&shy.0);
        for account in &mut state.accounts {
            account.locked = [locked.0, follows.0].contains(&account.id);
            account.state = u32::from(account.id == gone.0);
        }
    });
    fake.follow(locked, alice);
    fake.follow(alice, follows);
    fake.block(alice, blocked);
    fake.block(blocking, alice);
    let path = of(&fake, alice, &[]);
    for account in [locked, shy, gone, blocked, blocking, remote, Id(999)] {
        assert!(add(&fake, alice, &path, account).error(422).contains("cannot be added"), "{account}");
    }
    for sent in [json!({}), json!({ "account_id": " " }), json!({ "account_id": null })] {
        let said = fake.post(&format!("{path}/items")).as_account(alice).json(sent).send().error(422);
        assert_eq!(said, "`account_id` parameter is missing");
    }
    fake.post(&format!("{path}/items")).as_account(alice).json(json!({ "account_id": "bob" })).send().error(422);
    for account in [bob, follows, alice] {
        let made = add(&fake, alice, &path, account).ok();
        assert_eq!(made["collection_item"], item(&fake, alice, &path, account));
        assert!(add(&fake, alice, &path, account).error(422).contains("already"), "{account}");
    }
    assert_eq!(listed(&fake, None, &path), texts(&[bob, follows, alice]));
    assert_eq!(seen(&fake, None, &path)["accounts"].as_array().unwrap().len(), 3, "each account once");
    assert_eq!(
        notified(&fake),
        [("added_to_collection".to_owned(), bob.0), ("added_to_collection".to_owned(), follows.0)]
    );
}

#[test]
fn collection_lists_at_most_25_accounts() {
    let (fake, [alice, last]) = server(["alice", "last"]);
    let accounts: Vec<Id> = (0..25).map(|number| fake.account(&format!("account{number}"))).collect();
    accounts.iter().for_each(|account| fake.discoverable(*account));
    let path = of(&fake, alice, &accounts);
    assert!(add(&fake, alice, &path, last).error(422).contains("at most 25"));
    fake.state(|state| state.accounts.iter_mut().find(|account| account.id == accounts[3].0).unwrap().state = 1);
    add(&fake, alice, &path, last).ok();
    assert_eq!(listed(&fake, None, &path).len(), 25, "a suspended account takes no place");
}

#[test]
fn listed_account_withdraws_for_good() {
    let (fake, [alice, bob, carol]) = server(["alice", "bob", "carol"]);
    let path = of(&fake, alice, &[bob, carol]);
    let own = item_path(&fake, alice, &path, bob);
    let revoke = |person: Id| fake.post(&format!("{own}/revoke")).as_account(person).send();
    for other in [alice, carol] {
        revoke(other).error(403);
    }
    assert_eq!(revoke(bob).ok(), json!({}));
    revoke(bob).error(404);
    assert_eq!(listed(&fake, Some(alice), &path), texts(&[carol]));
    assert!(add(&fake, alice, &path, bob).error(422).contains("does not want"));
    fake.delete(&own).as_account(alice).send().error(404);
    assert!(add(&fake, alice, &path, bob).error(422).contains("does not want"), "the owner cannot forget it");
    assert_eq!(notified(&fake), [("added_to_collection".to_owned(), carol.0)]);
}

#[test]
fn hidden_items_are_left_out() {
    let (fake, [alice, bob, carol, dave]) = server(["alice", "bob", "carol", "dave"]);
    let path = of(&fake, alice, &[bob, carol]);
    fake.block(dave, bob);
    assert_eq!(listed(&fake, Some(dave), &path), texts(&[carol]));
    fake.state(|state| state.discoverable.remove(&carol.0));
    assert_eq!(listed(&fake, None, &path), texts(&[bob]));
    assert_eq!(seen(&fake, None, &path)["accounts"].as_array().unwrap().len(), 2);
    assert_eq!(listed(&fake, Some(dave), &path), [""; 0]);
    for viewer in [alice, carol] {
        assert_eq!(item(&fake, viewer, &path, carol)["state"], "pending");
        assert_eq!(seen(&fake, Some(viewer), &path)["collection"]["item_count"], 2);
    }
    fake.state(|state| state.accounts.iter_mut().find(|account| account.id == bob.0).unwrap().state = 1);
    assert_eq!(listed(&fake, None, &path), [""; 0]);
}

#[test]
fn collection_is_hidden_from_accounts_that_its_owner_blocks() {
    let (fake, [alice, bob, carol]) = server(["alice", "bob", "carol"]);
    let path = of(&fake, alice, &[carol]);
    fake.patch(&path).as_account(alice).json(json!({ "discoverable": true })).send().ok();
    let of_alice = format!("/api/v1/accounts/{alice}/collections");
    fake.block(alice, bob);
    fake.get(&path).as_account(bob).send().error(404);
    assert_eq!(seen(&fake, Some(bob), &of_alice), json!({ "collections": [] }));
    assert_eq!(seen(&fake, Some(carol), &of_alice)["collections"].as_array().unwrap().len(), 1);
    fake.state(|state| state.accounts.iter_mut().find(|account| account.id == alice.0).unwrap().state = 1);
    fake.get(&path).send().error(404);
    assert_eq!(seen(&fake, None, &of_alice), json!({ "collections": [] }));
    let with_carol = format!("/api/v1/accounts/{carol}/in_collections");
    assert_eq!(seen(&fake, Some(carol), &with_carol), json!({ "collections": [] }));
}

#[test]
fn block_ends_listing_in_both_directions() {
    let (fake, [alice, bob, carol]) = server(["alice", "bob", "carol"]);
    let (one, other) = (of(&fake, alice, &[bob, carol]), of(&fake, bob, &[alice, carol]));
    fake.block(bob, alice);
    assert_eq!(listed(&fake, Some(carol), &one), texts(&[carol]), "also before the event");
    let pair = Subject::Json(json!({ "account": bob, "target": alice }).to_string());
    fake.events(&[fake.event("account.blocked", Some(bob), pair)]).unwrap();
    fake.state(|state| state.blocks.clear());
    for path in [one, other] {
        assert_eq!(listed(&fake, Some(carol), &path), texts(&[carol]), "it does not come back");
    }
    let left = [("added_to_collection".to_owned(), carol.0), ("added_to_collection".to_owned(), carol.0)];
    assert_eq!(notified(&fake), left);
}

#[test]
fn deleted_account_is_forgotten() {
    let (fake, [alice, bob, carol]) = server(["alice", "bob", "carol"]);
    of(&fake, alice, &[bob, carol]);
    fake.events(&[fake.event("account.purged", None, Subject::Id(bob.0))]).unwrap();
    assert_eq!(fake.execute(&format!("DELETE FROM items WHERE account_id = {bob}")), 0);
    assert_eq!(fake.execute("DELETE FROM items"), 1);
}

#[test]
fn collections_of_an_account_come_in_pages() {
    let (fake, [alice, bob]) = server(["alice", "bob"]);
    let mut ids: Vec<Value> = (0..5)
        .map(|number| create(&fake, alice, json!({ "name": number.to_string(), "discoverable": number != 2 })))
        .map(|made| made["id"].clone())
        .collect();
    ids.reverse();
    let path = format!("/api/v1/accounts/{alice}/collections");
    let page = |viewer: Id, query: &str| {
        let page = fake.get(&format!("{path}{query}")).as_account(viewer).send();
        let shown =
            page.json["collections"].as_array().unwrap().iter().map(|one| one["id"].clone()).collect::<Vec<_>>();
        (shown, page.cursor.map(|cursor| cursor.next_max.is_some()))
    };
    let visible: Vec<Value> = ids.iter().enumerate().filter(|(at, _)| *at != 2).map(|(_, id)| id.clone()).collect();
    assert_eq!(page(alice, ""), (ids.clone(), Some(false)));
    assert_eq!(page(bob, ""), (visible.clone(), Some(false)), "unlisted ones are the owner's to see");
    assert_eq!(page(bob, "?limit=2"), (visible[..2].to_vec(), Some(true)));
    assert_eq!(page(bob, "?limit=2&offset=2"), (visible[2..].to_vec(), Some(true)));
    assert!(page(bob, "?limit=2&offset=9").0.is_empty());
    assert_eq!(page(bob, "?limit=2&offset=-3").0, visible[..2]);
    let last = visible[1].as_str().unwrap();
    assert_eq!(page(bob, &format!("?limit=2&offset=1&max_id={last}")).0, visible[2..], "the bound counts");
    assert_eq!(page(bob, &format!("?limit=1&min_id={last}")).0, visible[..1]);
    assert!(page(bob, "?limit=0").0.is_empty());
    fake.get(&format!("{path}?offset=x")).as_account(bob).send().error(422);
}

#[test]
fn person_sees_where_they_are_listed() {
    let (fake, [alice, bob, carol]) = server(["alice", "bob", "carol"]);
    let (one, other) = (of(&fake, alice, &[carol]), of(&fake, bob, &[alice, carol]));
    let path = format!("/api/v1/accounts/{carol}/in_collections");
    fake.get(&path).send().error(401);
    fake.get(&path).as_account(alice).send().error(403);
    let own = || -> Vec<String> {
        let shown = seen(&fake, Some(carol), &path)["collections"].clone();
        shown.as_array().unwrap().iter().map(|one| format!("{COLLECTIONS}/{}", one["id"].as_str().unwrap())).collect()
    };
    assert_eq!(own(), [other.clone(), one.clone()]);
    fake.state(|state| state.discoverable.remove(&carol.0));
    assert_eq!(own(), [other.clone(), one.clone()], "also to withdraw without being discoverable");
    let item = item_path(&fake, carol, &other, carol);
    fake.post(&format!("{item}/revoke")).as_account(carol).send().ok();
    assert_eq!(own(), [one]);
}

#[test]
fn listed_accounts_are_notified_of_changes_of_meaning() {
    let (fake, [alice, bob, carol]) = server(["alice", "bob", "carol"]);
    let path = of(&fake, alice, &[alice, bob, carol]);
    fake.state(|state| state.notifications.clear());
    let patch = |sent: Value| {
        fake.patch(&path).as_account(alice).json(sent).send().ok();
        notified(&fake).len()
    };
    assert_eq!(patch(json!({ "language": "en", "discoverable": true, "name": "Rooks", "sensitive": false })), 0);
    for sent in [
        json!({ "name": "x" }),
        json!({ "description": "x" }),
        json!({ "tag_name": "x" }),
        json!({ "sensitive": true }),
    ] {
        fake.state(|state| state.notifications.clear());
        assert_eq!(patch(sent.clone()), 2, "{sent}");
    }
    assert_eq!(patch(json!({ "name": "y" })), 2, "the newest change alone");
    fake.delete(&path).as_account(alice).send().ok();
    assert_eq!(notified(&fake), []);
}

#[test]
fn notifications_have_their_collection() {
    let (fake, [alice, bob]) = server(["alice", "bob"]);
    let path = of(&fake, alice, &[bob]);
    fake.patch(&path).as_account(alice).json(json!({ "name": "Crows" })).send().ok();
    let targets: Vec<Target> = fake.state(|state| {
        let target = |(id, one): (i64, &core_write::NewNotification)| Target {
            id,
            owner: one.from,
            subject: None,
            activity: Some(one.activity),
            code: one.kind.clone(),
        };
        (1..).zip(&state.notifications).map(target).collect()
    });
    assert_eq!(targets.len(), 2);
    let shown = seen(&fake, Some(bob), &path)["collection"].clone();
    for kind in ["notification", "notification_group"] {
        let extras = Collections::decorate(Some(bob), kind, &targets).unwrap().into_list();
        assert_eq!(extras.len(), 2);
        for extra in extras {
            assert_eq!(extra.fields.len(), 1);
            assert_eq!(extra.fields[0].0, "collection");
            assert_eq!(serde_json::from_str::<Value>(&extra.fields[0].1).unwrap(), shown);
        }
        let gone = Target { activity: Some(999), ..targets[0].clone() };
        assert!(Collections::decorate(Some(bob), kind, &[gone]).unwrap().into_list().is_empty());
    }
    fake.block(alice, bob);
    assert!(Collections::decorate(Some(bob), "notification", &targets).unwrap().into_list().is_empty());
}

#[test]
fn account_says_who_may_list_it() {
    let (fake, [open, locked, shy, remote]) = server(["open", "locked", "shy", "dan@other.example"]);
    fake.state(|state| {
        state.discoverable.remove(&shy.0);
        state.accounts.iter_mut().find(|account| account.id == locked.0).unwrap().locked = true;
    });
    let shown = fake.decorate(None, "account", &[open, locked, shy, remote]).unwrap();
    let wanted = [
        (json!(["public"]), "automatic"),
        (json!(["followers"]), "unknown"),
        (json!([]), "denied"),
        (json!([]), "missing"),
    ];
    for (members, (automatic, current_user)) in shown.iter().zip(wanted) {
        let wanted = json!({ "automatic": automatic, "manual": [], "current_user": current_user });
        assert_eq!(members["feature_approval"], wanted);
    }
}
