CREATE TABLE categories (
    id integer PRIMARY KEY,
    account_id integer NOT NULL,
    title text NOT NULL
);
CREATE INDEX categories_account ON categories (account_id, id);

-- Whoever makes categories: requests at once wait for each other here.
CREATE TABLE owners (
    account_id integer PRIMARY KEY
);

-- account_id: the category's owner, again, so that a bookmark that goes finds its entries. filed_at: milliseconds.
CREATE TABLE entries (
    category_id integer NOT NULL REFERENCES categories (id) ON DELETE CASCADE,
    status_id integer NOT NULL,
    account_id integer NOT NULL,
    filed_at integer NOT NULL,
    PRIMARY KEY (category_id, status_id)
);
CREATE INDEX entries_status ON entries (status_id, account_id);
CREATE INDEX entries_account ON entries (account_id);
