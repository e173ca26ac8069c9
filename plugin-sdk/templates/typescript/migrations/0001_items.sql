CREATE TABLE items (
    id INTEGER PRIMARY KEY,
    account_id BIGINT NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX items_account ON items (account_id, id);
