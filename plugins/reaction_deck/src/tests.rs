//! The routes, natively, against the SDK's fake server.

use rookery_plugin::pages::{Outcome, Value};
use rookery_plugin::test::Fake;
use serde_json::json;

use crate::ReactionDeck;

const DECK: &str = "/api/v1/reaction_deck";

#[test]
fn a_deck_is_replaced_and_read_back() {
    let fake = Fake::new::<ReactionDeck>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    fake.emoji("rook");
    assert_eq!(fake.get(DECK).as_account(alice).send().ok(), json!([]));

    let body = json!({"emojis": ["👍", ":rook:", "no_such"]});
    let deck = fake.post(DECK).as_account(alice).json(body).send().ok();
    assert_eq!((&deck[0], &deck[2]), (&json!({"name": "👍"}), &json!({"name": "no_such"})));
    assert_eq!((&deck[1]["name"], &deck[1]["width"]), (&json!("rook"), &json!(32)));
    assert_eq!(fake.get(DECK).as_account(alice).send().ok(), deck);
    assert_eq!(fake.get(DECK).as_account(bob).send().ok(), json!([]));

    fake.state(|state| state.emojis.clear());
    let deck = fake.get(DECK).as_account(alice).send().ok();
    assert_eq!(deck, json!([{"name": "👍"}, {"name": "no_such"}]));
    assert_eq!(fake.post(DECK).as_account(alice).send().ok(), json!([]));
}

#[test]
fn another_emoji_of_the_same_name_is_another() {
    let fake = Fake::new::<ReactionDeck>();
    let alice = fake.account("alice");
    fake.emoji("rook");
    fake.post(DECK).as_account(alice).json(json!({"emojis": ["rook", "👍"]})).send().ok();
    fake.state(|state| state.emojis.clear());
    fake.emoji("rook");
    assert_eq!(fake.get(DECK).as_account(alice).send().ok(), json!([{"name": "👍"}]));
}

#[test]
fn a_deck_is_replaced_in_one_statement() {
    let fake = Fake::new::<ReactionDeck>();
    let alice = fake.account("alice");
    for emojis in [vec!["👍"; 256], vec!["🎉"; 3]] {
        fake.state(|state| state.calls.clear());
        fake.post(DECK).as_account(alice).json(json!({ "emojis": emojis })).send().ok();
        let calls = fake.state(|state| state.calls.clone());
        assert_eq!((calls.get("sql.query"), calls.get("sql.many")), (Some(&1), None), "{calls:?}");
    }
    assert_eq!(fake.execute("DELETE FROM decks"), 1);
}

#[test]
fn page_names_the_emojis_that_do_not_exist() {
    let fake = Fake::new::<ReactionDeck>();
    let alice = fake.account("alice");
    fake.emoji("rook");
    let save = |emojis: &str| fake.page(alice, "deck").submit("save", &[("emojis", Value::Text(emojis.to_owned()))]);
    assert!(matches!(save(":rook: 👍").unwrap(), Outcome::Done(_)));
    let kept = fake.get(DECK).as_account(alice).send().ok();
    match save("👍 :nope: :rook: nix").unwrap() {
        Outcome::Invalid(faults) => {
            assert_eq!(faults, [("emojis".to_owned(), "There is no such emoji here: nope, nix".to_owned())]);
        }
        Outcome::Done(_) => panic!("unknown emojis are refused"),
    }
    assert_eq!(fake.get(DECK).as_account(alice).send().ok(), kept);
}
