//! The routes and hooks, natively, against the SDK's fake server.

use rookery_plugin::prelude::*;
use rookery_plugin::test::{Fake, TestResponse};
use serde_json::{Value, json};

use crate::Antennas;

const ANTENNAS: &str = "/api/v1/antennas";
const DAY: i64 = 24 * 60 * 60 * 1_000;

/// A server with a person who was here yesterday.
fn server() -> (Fake, Id) {
    let fake = Fake::new::<Antennas>();
    let alice = person(&fake, "alice", 1);
    (fake, alice)
}

/// Someone who was here so many days ago.
fn person(fake: &Fake, name: &str, days: i64) -> Id {
    let id = fake.account(name);
    fake.state(|state| {
        let at = state.now - days * DAY;
        let account = state.accounts.iter_mut().find(|account| account.id == id.0).unwrap();
        account.extra = Some(json!({ "last_active_at": at }).to_string());
    });
    id
}

fn create(fake: &Fake, owner: Id, choices: Value) -> String {
    let antenna = fake.post(ANTENNAS).as_account(owner).json(choices).send().ok();
    antenna["id"].as_str().unwrap().to_owned()
}

fn add(fake: &Fake, owner: Id, antenna: &str, list: &str, entries: &[&str]) -> TestResponse {
    let parameter = match list.trim_start_matches("exclude_") {
        "accounts" => "account_ids",
        other => other,
    };
    fake.post(&format!("{ANTENNAS}/{antenna}/{list}")).as_account(owner).json(json!({ parameter: entries })).send()
}

fn feed(fake: &Fake, antenna: &str) -> Vec<i64> {
    let feed = feeds::custom("antenna", antenna.parse::<i64>().unwrap());
    fake.state(|state| state.feed(&feed))
}

#[test]
fn a_status_arrives_where_it_is_listened_for() {
    let (fake, alice) = server();
    let bob = fake.account("bob");
    let words = create(&fake, alice, json!({"title": "Birds"}));
    add(&fake, alice, &words, "keywords", &["rook", "crow"]).ok();
    let home = create(&fake, alice, json!({"title": "Bob", "insert_feeds": true}));
    add(&fake, alice, &home, "accounts", &[&bob.to_string()]).ok();

    let (caught, other) = (fake.status(bob, "a rook"), fake.status(alice, "a knight"));
    fake.fan_out(&[caught, other]).unwrap();
    assert_eq!((feed(&fake, &words), feed(&fake, &home)), (vec![caught.0], vec![caught.0]));
    assert_eq!(fake.state(|state| state.feed(&Feed::Home(alice.0))), [caught.0]);
}

#[test]
fn changes_count_from_the_next_status_on() {
    let (fake, alice) = server();
    let antenna = create(&fake, alice, json!({"title": "Birds"}));
    add(&fake, alice, &antenna, "keywords", &["rook"]).ok();
    let first = fake.status(alice, "a rook");
    fake.fan_out(&[first]).unwrap();
    add(&fake, alice, &antenna, "exclude_keywords", &["takes"]).ok();
    let (second, third) = (fake.status(alice, "a rook takes"), fake.status(alice, "a rook waits"));
    fake.fan_out(&[second, third]).unwrap();
    assert_eq!(feed(&fake, &antenna), [third.0, first.0]);

    let path = format!("{ANTENNAS}/{antenna}");
    fake.delete(&path).as_account(alice).send().ok();
    let fourth = fake.status(alice, "a rook again");
    assert_eq!(fake.fan_out(&[fourth]).unwrap(), []);
    fake.get(&path).as_account(alice).send().error(404);
}

#[test]
fn followers_are_asked_about_and_sleepers_get_nothing() {
    let (fake, alice) = server();
    let (sleeper, author) = (person(&fake, "sleeper", 8), fake.account("author"));
    for owner in [alice, sleeper] {
        let antenna = create(&fake, owner, json!({"title": "Birds"}));
        add(&fake, owner, &antenna, "keywords", &["rook"]).ok();
    }
    let private = fake.status_with(author, "a rook", |status| status.visibility = 2);
    assert_eq!(fake.fan_out(&[private]).unwrap(), []);
    fake.follow(alice, author);
    fake.follow(sleeper, author);
    let entries = fake.fan_out(&[private]).unwrap();
    assert_eq!(entries.iter().map(|entry| entry.viewer).collect::<Vec<_>>(), [Some(alice.0)]);
    let public = fake.status(author, "a rook for all");
    fake.state(|state| state.calls.clear());
    assert_eq!(fake.fan_out(&[public]).unwrap().len(), 1);
    assert_eq!(fake.state(|state| state.calls.get("core.followers-among").copied()), None);
}

/// Gives an owner `count` antennas that listen for `keywords`, without the routes and their limits.
fn stuff(fake: &Fake, owner: Id, count: usize, keywords: &[String]) {
    let terms = json!({ "keywords": keywords }).to_string();
    for number in 0..count {
        fake.execute(&format!(
            "INSERT INTO antennas (account_id, title, list_id, insert_feeds, stl, ltl, with_media_only, ignore_reblog,
                terms, version) VALUES ({owner}, '{number}', 0, FALSE, FALSE, FALSE, FALSE, FALSE, '{terms}', 1)"
        ));
    }
}

#[test]
fn antennas_and_their_changes_are_read_in_parts() {
    let (fake, alice) = server();
    stuff(&fake, alice, 250, &["rook".to_owned()]);
    let first = fake.status(alice, "a rook");
    fake.state(|state| state.calls.clear());
    assert_eq!(fake.fan_out(&[first]).unwrap().len(), 250);
    let read = fake.state(|state| state.calls["sql.query"]);
    assert_eq!(read, 1 + 2 * 3 + 1 + 1, "three parts with their accounts, the end, and who is awake");

    fake.execute("UPDATE antennas SET version = 2, terms = '{\"keywords\":[\"crow\"]}' WHERE id <= 150");
    fake.execute("INSERT INTO removed (antenna_id, version) SELECT id, 2 FROM antennas WHERE id > 200");
    fake.execute("UPDATE counters SET version = 2");
    let second = fake.status(alice, "a crow");
    assert_eq!(fake.fan_out(&[second]).unwrap().len(), 150);
    let third = fake.status(alice, "a rook");
    assert_eq!(fake.fan_out(&[third]).unwrap().len(), 50, "neither what changed nor what went");
}

#[test]
fn full_antennas_of_one_owner_do_not_affect_others() {
    let (fake, alice) = server();
    let carol = person(&fake, "carol", 1);
    let long: Vec<String> = (0..63).map(|number| format!("{number:-<250}")).collect();
    for round in 0..30 {
        let own: Vec<String> = long.iter().map(|word| format!("{round:02}{word}")).collect();
        stuff(&fake, carol, 1, &own);
    }
    stuff(&fake, alice, 1, &["rook".to_owned()]);
    let of_carol = format!("a rook, {:02}{}", 7, long[5]);
    let status = fake.status(alice, &of_carol);
    assert_eq!(fake.fan_out(&[status]).unwrap().len(), 2);
    assert_eq!(fake.state(|state| state.logs.clone()), [], "there was room for both");

    for owner in ["dave", "erin", "frank"].map(|name| person(&fake, name, 1)) {
        for round in 0..30 {
            let own: Vec<String> = long.iter().map(|word| format!("{owner}{round:02}{word}")).collect();
            stuff(&fake, owner, 1, &own);
        }
    }
    fake.execute("UPDATE counters SET epoch = 1");
    let status = fake.status(alice, "a rook");
    assert_eq!(fake.fan_out(&[status]).unwrap().len(), 1, "whoever lists little is served");
    let warned = fake.state(|state| state.logs.clone());
    assert!(warned.iter().any(|(level, line)| level == "warn" && line.contains("count=")), "{warned:?}");
}

#[test]
fn an_account_that_very_many_antennas_name_can_go() {
    let (fake, alice) = server();
    let bob = fake.account("bob");
    stuff(&fake, alice, 300, &[]);
    fake.execute(&format!(
        "INSERT INTO members (antenna_id, excluded, account_id) SELECT id, FALSE, {bob} FROM antennas"
    ));
    let status = fake.status(bob, "hello");
    assert_eq!(fake.fan_out(&[status]).unwrap().len(), 300);
    fake.state(|state| state.calls.clear());
    fake.events(&[fake.event("account.purged", None, Subject::Id(bob.0))]).unwrap();
    assert_eq!(fake.state(|state| state.calls.get("sql.many").copied()), None, "none is read to be changed");
    let status = fake.status(bob, "again");
    assert_eq!(fake.fan_out(&[status]).unwrap(), []);
}

#[test]
fn lists_of_one_antenna_are_bounded() {
    let (fake, alice) = server();
    let antenna = create(&fake, alice, json!({"title": "Birds"}));
    add(&fake, alice, &antenna, "keywords", &[&"x".repeat(257)]).error(422);
    let long: Vec<String> = (0..100).map(|number| format!("{number:->256}")).collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    assert!(add(&fake, alice, &antenna, "keywords", &long).error(422).contains("16 KiB"));
    add(&fake, alice, &antenna, "keywords", &long[..60]).ok();
    assert!(add(&fake, alice, &antenna, "exclude_keywords", &long[..10]).error(422).contains("16 KiB"));
}

#[test]
fn owners_are_looked_up_in_parts() {
    let (fake, alice) = server();
    for number in 0..10_001 {
        let owner = person(&fake, &format!("p{number}"), 1);
        fake.execute(&format!("INSERT INTO counters (id, version, epoch) VALUES ({owner}, 0, 0)"));
    }
    fake.execute(
        "INSERT INTO antennas (account_id, title, list_id, insert_feeds, stl, ltl, with_media_only, ignore_reblog, terms,
            version) SELECT id, 'all', 0, FALSE, FALSE, TRUE, FALSE, FALSE, '{}', 1 FROM counters WHERE id > 1",
    );
    let status = fake.status(alice, "hello");
    assert_eq!(fake.fan_out(&[status]).unwrap().len(), 10_001);
}

#[test]
fn refused_request_changes_nothing() {
    let (fake, alice) = server();
    let bob = fake.account("bob");
    let antenna = create(&fake, alice, json!({"title": "Birds"}));
    add(&fake, alice, &antenna, "keywords", &["x"]).error(422);
    add(&fake, alice, &antenna, "keywords", &["rook", "rook"]).error(422);
    add(&fake, alice, &antenna, "domains", &["not a domain"]).error(422);
    add(&fake, alice, &antenna, "accounts", &[&bob.to_string(), "999999"]).error(404);
    add(&fake, bob, &antenna, "keywords", &["rook"]).error(404);
    let shown = fake.get(&format!("{ANTENNAS}/{antenna}")).as_account(alice).send().ok();
    assert_eq!(
        [&shown["accounts_count"], &shown["domains_count"], &shown["keywords_count"], &shown["tags_count"]],
        [&json!(0); 4]
    );
    fake.post(ANTENNAS).as_account(alice).json(json!({"title": " "})).send().error(422);
    fake.put(&format!("{ANTENNAS}/{antenna}")).as_account(alice).json(json!({"list_id": "77"})).send().error(422);
    fake.post(ANTENNAS).as_account(alice).json(json!({"title": "Rooks", "list_id": "77"})).send().error(422);
}

#[test]
fn what_goes_is_forgotten() {
    let (fake, alice) = server();
    let (bob, carol) = (fake.account("bob"), person(&fake, "carol", 1));
    let antenna = create(&fake, alice, json!({"title": "Bob"}));
    add(&fake, alice, &antenna, "accounts", &[&bob.to_string()]).ok();
    let of_carol = create(&fake, carol, json!({"title": "Bob too"}));
    add(&fake, carol, &of_carol, "accounts", &[&bob.to_string()]).ok();
    let status = fake.status(bob, "hello");
    fake.fan_out(&[status]).unwrap();
    let pair = Subject::Json(json!({"account": alice, "target": bob}).to_string());
    fake.events(&[fake.event("account.blocked", Some(alice), pair)]).unwrap();
    assert_eq!((feed(&fake, &antenna), feed(&fake, &of_carol)), (vec![], vec![status.0]));

    fake.events(&[fake.event("account.purged", None, Subject::Id(carol.0))]).unwrap();
    let again = fake.status(bob, "hello again");
    fake.fan_out(&[again]).unwrap();
    assert_eq!((feed(&fake, &antenna), feed(&fake, &of_carol)), (vec![again.0], vec![]));
    // An antenna that names an account names the one that it moves to as well.
    let robert = fake.account("robert");
    let pair = Subject::Json(json!({"account": bob, "target": robert}).to_string());
    for _ in 0..2 {
        fake.events(&[fake.event("account.moved", Some(bob), pair.clone())]).unwrap();
    }
    let moved = fake.status(robert, "from the new place");
    fake.fan_out(&[moved]).unwrap();
    assert_eq!(feed(&fake, &antenna), vec![moved.0, again.0]);
    fake.events(&[fake.event("account.purged", None, Subject::Id(robert.0))]).unwrap();
    fake.events(&[fake.event("account.purged", None, Subject::Id(bob.0))]).unwrap();
    let shown = fake.get(&format!("{ANTENNAS}/{antenna}")).as_account(alice).send().ok();
    assert_eq!(shown["accounts_count"], 0);
}
