-- entries: a JSON array in the deck's order. What has an emoji's id is a custom emoji, drawn as it was when it was chosen.
CREATE TABLE decks (
    account_id integer PRIMARY KEY,
    entries text NOT NULL
);
