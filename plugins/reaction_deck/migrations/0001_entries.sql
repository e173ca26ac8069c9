-- A deck: its entries in the order of position. What has a url is a custom emoji, drawn as it was when it was chosen.
CREATE TABLE entries (
    account_id integer NOT NULL,
    position integer NOT NULL,
    name text NOT NULL,
    url text,
    static_url text,
    width integer,
    height integer,
    PRIMARY KEY (account_id, position)
);
