-- Favourites, bookmarks and pins: marks of accounts on statuses.

-- A favourite of an account.
CREATE TABLE favourites (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id BIGINT NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX favourites_account_status ON favourites (account_id, status_id);
CREATE INDEX favourites_account ON favourites (account_id, id);
CREATE INDEX favourites_status ON favourites (status_id, id);

-- A bookmark of an account.
CREATE TABLE bookmarks (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id BIGINT NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX bookmarks_account_status ON bookmarks (account_id, status_id);
CREATE INDEX bookmarks_account ON bookmarks (account_id, id);
CREATE INDEX bookmarks_status ON bookmarks (status_id);

-- A status at the top of its author's profile.
CREATE TABLE status_pins (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id BIGINT NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX status_pins_account ON status_pins (account_id, status_id);
CREATE INDEX status_pins_status ON status_pins (status_id);
