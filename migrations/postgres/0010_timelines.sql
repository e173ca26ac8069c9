-- Lists, feeds and markers: the timelines of a user.

-- A list of accounts, with a feed of their statuses.
CREATE TABLE lists (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    -- Replies shown: to accounts that the owner follows (followed), to members (list), or none.
    replies_policy TEXT NOT NULL,
    exclusive BOOLEAN NOT NULL, -- statuses of members do not enter the home feed
    notify BOOLEAN NOT NULL, -- of each new status
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX lists_account ON lists (account_id, id);

-- A member of a list.
CREATE TABLE list_accounts (
    list_id BIGINT NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (list_id, account_id)
);
CREATE INDEX list_accounts_account ON list_accounts (account_id);

-- An entry of a materialised feed. It has no foreign keys: reads leave out an entry of a deleted status, and a trim of
-- the feed removes it.
CREATE TABLE feed_entries (
    kind SMALLINT NOT NULL, -- 0: home, 1: list, from 100: plugin_feeds.kind
    owner_id BIGINT NOT NULL, -- the account, the list, or a key that the plugin chose
    status_id BIGINT NOT NULL,
    original_id BIGINT, -- of a reblog
    PRIMARY KEY (kind, owner_id, status_id)
);

-- The position up to which an account has read a timeline.
CREATE TABLE markers (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    timeline TEXT NOT NULL, -- home or notifications
    last_read_id BIGINT NOT NULL,
    version BIGINT NOT NULL, -- for optimistic locking
    updated_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (account_id, timeline)
);
