//! The routes, the filter and events, natively, against the SDK's fake server.

use rookery_plugin::prelude::*;
use rookery_plugin::test::Fake;
use serde_json::{Value, json};

use crate::Circles;

const CIRCLES: &str = "/api/v1/circles";

/// A limited draft with these parameters.
pub(crate) fn draft(author: Id, extra: &Value, reply_to: Option<i64>) -> Draft {
    Draft {
        author: author.0,
        text: "for few".to_owned(),
        spoiler: String::new(),
        visibility: 4,
        sensitive: false,
        language: None,
        reply_to,
        media: Vec::new(),
        recipients: Vec::new(),
        extra: extra.to_string(),
        editing: None,
    }
}

fn create(fake: &Fake, account: Id, title: &str) -> String {
    let circle = fake.post(CIRCLES).as_account(account).form(&[("title", title)]).send().ok();
    circle["id"].as_str().unwrap().to_owned()
}

fn add(fake: &Fake, owner: Id, circle: &str, members: &[Id]) {
    let place = format!("{CIRCLES}/{circle}/accounts");
    fake.post(&place).as_account(owner).json(json!({ "account_ids": members })).send().ok();
}

fn holding(fake: &Fake, owner: Id, member: Id) -> Value {
    fake.get(&format!("/api/v1/accounts/{member}/circles")).as_account(owner).send().ok()
}

fn follow_ended(fake: &Fake, member: Id, owner: Id) {
    fake.state(|state| state.follows.remove(&(member.0, owner.0)));
    let pair = Subject::Json(json!({ "account": member, "target": owner }).to_string());
    fake.events(&[fake.event("follow.deleted", Some(member), pair)]).unwrap();
}

fn recipients(fake: &Fake, author: Id, extra: &Value) -> Vec<i64> {
    match fake.filter(&draft(author, extra, None)).unwrap() {
        Verdict::Change(change) => {
            assert_eq!((change.limited_scope.as_deref(), change.new_conversation), (Some("circle"), true));
            change.recipients.unwrap()
        }
        other => panic!("{other:?}"),
    }
}

fn refusal(fake: &Fake, author: Id, extra: &Value) -> u16 {
    match fake.filter(&draft(author, extra, None)).unwrap() {
        Verdict::Refuse(failure) => failure.status,
        other => panic!("{other:?}"),
    }
}

#[test]
fn circle_is_its_owners() {
    let fake = Fake::new::<Circles>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    let one = format!("{CIRCLES}/{}", create(&fake, alice, "Rooks"));
    for asked in [fake.get(&one), fake.put(&one), fake.patch(&one), fake.delete(&one)] {
        asked.as_account(bob).form(&[("title", "mine")]).send().error(404);
    }
    let renamed = fake.patch(&one).as_account(alice).form(&[("title", "Crows")]).send().ok();
    assert_eq!(renamed["title"], "Crows");
    assert_eq!(fake.put(&one).as_account(alice).send().ok(), renamed, "nothing sent changes nothing");
    fake.put(&one).as_account(alice).form(&[("title", " ")]).send().error(422);
    assert_eq!(fake.delete(&one).as_account(alice).send().ok(), json!({}));
    fake.get(&one).as_account(alice).send().error(404);
}

#[test]
fn hundred_circles_are_enough() {
    let fake = Fake::new::<Circles>();
    let alice = fake.account("alice");
    for number in 0..100 {
        create(&fake, alice, &number.to_string());
    }
    fake.post(CIRCLES).as_account(alice).form(&[("title", "one more")]).send().error(422);
    fake.post(CIRCLES).as_account(alice).send().error(422);
}

#[test]
fn only_followers_become_members_all_or_none() {
    let fake = Fake::new::<Circles>();
    let [alice, bob, carol, dave] = ["alice", "bob", "carol", "dave"].map(|name| fake.account(name));
    fake.follow(bob, alice);
    fake.follow(carol, alice);
    let circle = create(&fake, alice, "Rooks");
    let place = format!("{CIRCLES}/{circle}/accounts");
    for (ids, status) in [
        (json!([bob, dave]), 404),
        (json!([bob, "999"]), 404),
        (json!([bob, "no id"]), 404),
        (json!([bob, alice]), 422),
        (json!([bob, bob]), 422),
    ] {
        fake.post(&place).as_account(alice).json(json!({ "account_ids": ids })).send().error(status);
    }
    assert_eq!(holding(&fake, alice, bob), json!([]), "none was added");
    add(&fake, alice, &circle, &[bob, carol]);
    let again = json!({ "account_ids": [carol] });
    assert!(fake.post(&place).as_account(alice).json(again).send().error(422).contains("already"));
    assert_eq!(holding(&fake, alice, bob), json!([{ "id": circle, "title": "Rooks" }]));
    assert_eq!(holding(&fake, bob, bob), json!([]), "members do not see their circles");

    let gone = json!({ "account_ids": [bob, dave, "no id"] });
    assert_eq!(fake.delete(&place).as_account(alice).json(gone).send().ok(), json!({}));
    assert_eq!((holding(&fake, alice, bob), holding(&fake, alice, carol)["0"].is_null()), (json!([]), true));
    assert_eq!(recipients(&fake, alice, &json!({ "visibility": "circle", "circle_id": circle })), [carol.0]);
    fake.state(|state| state.accounts.iter_mut().find(|account| account.id == carol.0).unwrap().state = 1);
    assert_eq!(holding(&fake, alice, carol), json!([]), "suspended");
}

#[test]
fn membership_ends_with_its_follow() {
    let fake = Fake::new::<Circles>();
    let [alice, bob, carol] = ["alice", "bob", "carol"].map(|name| fake.account(name));
    let (first, second) = (create(&fake, alice, "1"), create(&fake, alice, "2"));
    for member in [bob, carol] {
        fake.follow(member, alice);
        add(&fake, alice, &first, &[member]);
        add(&fake, alice, &second, &[member]);
    }
    follow_ended(&fake, bob, alice);
    assert_eq!(fake.execute("DELETE FROM members WHERE FALSE"), 0);
    assert_eq!((holding(&fake, alice, bob), holding(&fake, alice, carol).as_array().unwrap().len()), (json!([]), 2));
    fake.advance(1_000);
    fake.follow(bob, alice);
    assert_eq!(holding(&fake, alice, bob), json!([]), "a new follow is no old member");
    add(&fake, alice, &first, &[bob]);

    // No event for this one; the next follow precedes the event about the end of the last.
    fake.state(|state| state.follows.remove(&(carol.0, alice.0)));
    assert_eq!(recipients(&fake, alice, &json!({ "visibility": "circle", "circle_id": second })), [0_i64; 0]);
    fake.advance(1_000);
    fake.follow(carol, alice);
    add(&fake, alice, &second, &[carol]);
    let pair = Subject::Json(json!({ "account": carol, "target": alice }).to_string());
    fake.events(&[fake.event("follow.deleted", Some(carol), pair)]).unwrap();
    assert_eq!(holding(&fake, alice, carol), json!([{ "id": second, "title": "2" }]));
    assert_eq!(fake.execute("DELETE FROM members"), 2, "no earlier entries are left");
}

#[test]
fn members_are_listed_to_the_owner_by_pages() {
    let fake = Fake::new::<Circles>();
    let [alice, bob, carol] = ["alice", "bob", "carol"].map(|name| fake.account(name));
    let circle = create(&fake, alice, "Rooks");
    for member in [bob, carol] {
        fake.follow(member, alice);
    }
    add(&fake, alice, &circle, &[bob, carol]);
    let names = |query: &str| {
        let page = fake.get(&format!("{CIRCLES}/{circle}/accounts{query}")).as_account(alice).send();
        let names: Vec<String> = page.json.as_array().unwrap().iter().map(|one| one["acct"].to_string()).collect();
        (names.join(" "), page.cursor.and_then(|cursor| cursor.next_max))
    };
    assert_eq!(names(""), ("\"carol\" \"bob\"".to_owned(), None));
    assert_eq!(names("?limit=1"), ("\"carol\"".to_owned(), Some(carol.0)));
    assert_eq!(names(&format!("?limit=1&max_id={carol}")).0, "\"bob\"");
    assert_eq!(names(&format!("?limit=1&min_id={}", bob.0 - 1)).0, "\"bob\"");
    assert_eq!(names("?limit=0").0, "\"carol\" \"bob\"");
    fake.get(&format!("{CIRCLES}/{circle}/accounts")).as_account(bob).send().error(404);
}

#[test]
fn audience_is_the_members_of_an_own_circle() {
    let fake = Fake::new::<Circles>();
    let [alice, bob] = ["alice", "bob"].map(|name| fake.account(name));
    fake.follow(bob, alice);
    let circle = create(&fake, alice, "Rooks");
    let empty = create(&fake, alice, "Nobody");
    add(&fake, alice, &circle, &[bob]);
    for word in ["circle", "limited", "reply"] {
        assert_eq!(recipients(&fake, alice, &json!({ "visibility": word, "circle_id": circle })), [bob.0], "{word}");
    }
    assert_eq!(recipients(&fake, alice, &json!({ "visibility": "circle", "circle_id": empty })), [0_i64; 0]);
    assert_eq!(refusal(&fake, alice, &json!({ "visibility": "circle" })), 422);
    assert_eq!(refusal(&fake, alice, &json!({ "visibility": "circle", "circle_id": "" })), 422);
    assert_eq!(refusal(&fake, alice, &json!({ "visibility": "limited", "circle_id": "999" })), 404);
    assert_eq!(refusal(&fake, alice, &json!({ "visibility": "circle", "circle_id": "no id" })), 404);
    assert_eq!(refusal(&fake, bob, &json!({ "visibility": "circle", "circle_id": circle })), 422);
    let passed = fake.filter(&draft(alice, &json!({ "visibility": "limited" }), Some(5))).unwrap();
    assert!(matches!(passed, Verdict::Pass), "{passed:?}");
}

#[test]
fn large_circle_is_read_in_parts() {
    let fake = Fake::new::<Circles>();
    let alice = fake.account("alice");
    let circle = create(&fake, alice, "Everyone");
    let members: Vec<i64> = (0..10_001).map(|number| 1_000_000 + number).collect();
    for member in &members {
        fake.follow(*member, alice);
    }
    let text = members.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    fake.execute(&format!(
        "INSERT INTO members (circle_id, member_id, account_id, follow_id)
         SELECT {circle}, f.account_id, {alice}, f.id FROM core_v1.follows f WHERE f.account_id IN ({text})"
    ));
    let reached = recipients(&fake, alice, &json!({ "visibility": "circle", "circle_id": circle }));
    assert_eq!(reached.len(), 10_001);
    assert_eq!((reached.first(), reached.last()), (members.first(), members.last()));
}

#[test]
fn history_has_posts_until_they_are_deleted() {
    let fake = Fake::new::<Circles>();
    let [alice, bob] = ["alice", "bob"].map(|name| fake.account(name));
    let circle = create(&fake, alice, "Rooks");
    let in_circle = |author: Id, circle: &str| {
        let extra = json!({ "limited_scope": "circle", "circles": { "circle": circle } }).to_string();
        fake.status_with(author, "for few", |status| (status.visibility, status.extra) = (4, Some(extra)))
    };
    let (kept, gone, forged) = (in_circle(alice, &circle), in_circle(alice, &circle), in_circle(bob, &circle));
    let mutual = fake.status_with(alice, "for friends", |status| status.visibility = 4);
    let nowhere = in_circle(alice, "999");
    let told = |id: Id| {
        let status = fake.state(|state| state.statuses.iter().find(|status| status.id == id.0).cloned()).unwrap();
        fake.event("status.created", Some(Id(status.account)), Subject::Status(status))
    };
    let batch: Vec<Event> = [kept, gone, forged, mutual, nowhere, kept].into_iter().map(told).collect();
    fake.events(&batch).unwrap();
    fake.events(&[fake.event("status.deleted", Some(alice), Subject::Id(gone.0))]).unwrap();
    assert_eq!(fake.execute(&format!("DELETE FROM entries WHERE status_id = {kept} AND circle_id = {circle}")), 1);
    assert_eq!(fake.execute("DELETE FROM entries"), 0);
}
