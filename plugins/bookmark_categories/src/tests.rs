//! The routes and events, natively, against the SDK's fake server.

use rookery_plugin::prelude::*;
use rookery_plugin::test::Fake;
use serde_json::{Value, json};

use crate::BookmarkCategories;

const CATEGORIES: &str = "/api/v1/bookmark_categories";

fn create(fake: &Fake, account: Id, title: &str) -> String {
    let category = fake.post(CATEGORIES).as_account(account).form(&[("title", title)]).send().ok();
    category["id"].as_str().unwrap().to_owned()
}

fn holding(fake: &Fake, account: Id, status: Id) -> Value {
    fake.get(&format!("/api/v1/statuses/{status}/bookmark_categories")).as_account(account).send().ok()
}

#[test]
fn a_status_is_filed_with_its_bookmark_until_that_goes() {
    let fake = Fake::new::<BookmarkCategories>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    let (kept, dropped) = (fake.status(bob, "kept"), fake.status(bob, "dropped"));
    let birds = create(&fake, alice, "Birds");
    let place = format!("{CATEGORIES}/{birds}/statuses");
    let both = json!({"status_ids": [kept, dropped]});
    fake.post(&place).as_account(alice).json(both.clone()).send().ok();
    assert_eq!(fake.state(|state| state.bookmarks.len()), 2);
    assert!(fake.post(&place).as_account(alice).json(both).send().error(422).contains("already"));
    assert_eq!(holding(&fake, alice, kept), json!([{"id": birds, "title": "Birds"}]));
    assert_eq!(holding(&fake, bob, kept), json!([]));

    let pair = Subject::Json(json!({"account": alice, "status": dropped}).to_string());
    fake.events(&[fake.event("bookmark.deleted", Some(alice), pair)]).unwrap();
    assert_eq!(holding(&fake, alice, dropped), json!([]));
    fake.events(&[fake.event("status.deleted", Some(bob), Subject::Id(kept.0))]).unwrap();
    assert_eq!(holding(&fake, alice, kept), json!([]));
}

#[test]
fn one_missing_status_files_none() {
    let fake = Fake::new::<BookmarkCategories>();
    let alice = fake.account("alice");
    let status = fake.status(alice, "seen");
    let place = format!("{CATEGORIES}/{}/statuses", create(&fake, alice, "Birds"));
    for missing in ["999999", "no id"] {
        let body = json!({"status_ids": [status.to_string(), missing]});
        fake.post(&place).as_account(alice).json(body).send().error(404);
    }
    assert_eq!(fake.state(|state| state.bookmarks.len()), 0);
    assert_eq!(holding(&fake, alice, status), json!([]));
}

#[test]
fn reblog_finds_the_categories_of_its_original() {
    let fake = Fake::new::<BookmarkCategories>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    let original = fake.status(bob, "a rook");
    let reblog = fake.status_with(bob, "", |status| status.reblog_of = Some(original.0));
    let birds = create(&fake, alice, "Birds");
    let place = format!("{CATEGORIES}/{birds}/statuses");
    let body = json!({ "status_ids": [reblog] });
    fake.post(&place).as_account(alice).json(body.clone()).send().ok();
    let held = json!([{"id": birds, "title": "Birds"}]);
    assert_eq!((holding(&fake, alice, original), holding(&fake, alice, reblog)), (held.clone(), held));
    fake.delete(&place).as_account(alice).json(body).send().ok();
    assert_eq!(holding(&fake, alice, original), json!([]));
    fake.get("/api/v1/statuses/1/bookmark_categories").as_account(alice).send().error(404);
}

#[test]
fn many_statuses_are_filed_in_parts() {
    let fake = Fake::new::<BookmarkCategories>();
    let alice = fake.account("alice");
    let statuses: Vec<Id> = (0..250).map(|number| fake.status(alice, &number.to_string())).collect();
    let place = format!("{CATEGORIES}/{}/statuses", create(&fake, alice, "Birds"));
    fake.state(|state| state.calls.clear());
    fake.post(&place).as_account(alice).json(json!({ "status_ids": statuses })).send().ok();
    assert_eq!(fake.state(|state| (state.calls["core-write.bookmark"], state.bookmarks.len())), (3, 250));
    let gone: Vec<i64> = statuses.iter().map(|id| id.0).chain([statuses[0].0]).collect();
    let place = format!("{CATEGORIES}/{}/statuses", create(&fake, alice, "Again"));
    let sent: Vec<String> = gone.iter().map(ToString::to_string).collect();
    fake.post(&place).as_account(alice).json(json!({ "status_ids": sent })).send().error(422);
    assert_eq!(fake.execute("DELETE FROM entries"), 250, "all or none");
}

#[test]
fn entries_of_an_account_that_went_are_found_a_part_at_a_time() {
    let fake = Fake::new::<BookmarkCategories>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    let birds = create(&fake, alice, "Birds");
    let kept = fake.status(alice, "kept");
    fake.execute(&format!(
        "INSERT INTO entries (category_id, account_id, status_id, filed_at)
         SELECT {birds}, {alice}, {kept} + value, 0 FROM json_each('[0{}]')",
        (1..2_500).map(|number| format!(",{number}")).collect::<String>()
    ));
    fake.events(&[fake.event("account.purged", None, Subject::Id(bob.0))]).unwrap();
    assert_eq!(fake.state(|state| state.calls.get("sql.query").copied()), Some(3), "the batch reads no table");
    assert_eq!(fake.run_jobs(), 3);
    assert_eq!(holding(&fake, alice, kept).as_array().unwrap().len(), 1);
    assert_eq!(fake.execute("DELETE FROM entries"), 1);
}

#[test]
fn a_category_is_its_owners() {
    let fake = Fake::new::<BookmarkCategories>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    let one = format!("{CATEGORIES}/{}", create(&fake, alice, "Birds"));
    for asked in [fake.get(&one), fake.put(&one), fake.patch(&one), fake.delete(&one)] {
        asked.as_account(bob).form(&[("title", "mine")]).send().error(404);
    }
    let renamed = fake.patch(&one).as_account(alice).form(&[("title", "Rooks")]).send().ok();
    assert_eq!(renamed["title"], "Rooks");
    assert_eq!(fake.delete(&one).as_account(alice).send().ok(), json!({}));
    fake.get(&one).as_account(alice).send().error(404);
}

#[test]
fn twenty_categories_are_enough() {
    let fake = Fake::new::<BookmarkCategories>();
    let alice = fake.account("alice");
    for number in 0..20 {
        create(&fake, alice, &number.to_string());
    }
    fake.post(CATEGORIES).as_account(alice).form(&[("title", "one more")]).send().error(422);
    fake.post(CATEGORIES).as_account(alice).send().error(422);
}

#[test]
fn host_receives_each_filed_status_once() {
    let fake = Fake::new::<BookmarkCategories>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    let [first, second] = ["a", "b"].map(|text| fake.status(bob, text));
    for (title, statuses) in [("Birds", json!([first, second])), ("Games", json!([first]))] {
        let place = format!("{CATEGORIES}/{}/statuses", create(&fake, alice, title));
        fake.post(&place).as_account(alice).json(json!({ "status_ids": statuses })).send().ok();
    }
    let filed = |account: Id| crate::sql::filed_among(vec![first.0, second.0, 7], account).all::<Id>().unwrap();
    assert_eq!((filed(alice), filed(bob)), (vec![first, second], Vec::new()));
    let newest = Page { max_id: None, since_id: None, min_id: None, limit: 40 };
    let mut all: Vec<Id> = crate::sql::filed_newest(alice, &newest).all().unwrap();
    // The server's order is not the fake one's.
    all.sort();
    assert_eq!(all, [first, second]);
}
