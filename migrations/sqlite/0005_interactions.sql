-- Favourites, bookmarks and pins: marks of accounts on statuses.

-- A favourite of an account.
CREATE TABLE favourites (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX favourites_account_status ON favourites (account_id, status_id);
CREATE INDEX favourites_account ON favourites (account_id, id);
CREATE INDEX favourites_status ON favourites (status_id, id);

-- A bookmark of an account.
CREATE TABLE bookmarks (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX bookmarks_account_status ON bookmarks (account_id, status_id);
CREATE INDEX bookmarks_account ON bookmarks (account_id, id);
CREATE INDEX bookmarks_status ON bookmarks (status_id);

-- A status at the top of its author's profile.
CREATE TABLE status_pins (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX status_pins_account ON status_pins (account_id, status_id);
CREATE INDEX status_pins_status ON status_pins (status_id);
