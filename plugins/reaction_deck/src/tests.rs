//! The routes, natively, against the SDK's fake server.

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
