-- Lists, feeds and markers: the timelines of a user.

-- A list of accounts, with a feed of their statuses.
CREATE TABLE lists (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    -- Replies shown: to accounts that the owner follows (followed), to members (list), or none.
    replies_policy TEXT NOT NULL,
    exclusive INTEGER NOT NULL, -- statuses of members do not enter the home feed
    notify INTEGER NOT NULL, -- of each new status
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX lists_account ON lists (account_id, id);

-- A member of a list.
CREATE TABLE list_accounts (
    list_id INTEGER NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (list_id, account_id)
) STRICT;
CREATE INDEX list_accounts_account ON list_accounts (account_id);

-- An entry of a materialised feed. It has no foreign keys: reads leave out an entry of a deleted status, and a trim of
-- the feed removes it.
CREATE TABLE feed_entries (
    kind INTEGER NOT NULL, -- 0: home, 1: list, from 100: plugin_feeds.kind
    owner_id INTEGER NOT NULL, -- the account, the list, or a key that the plugin chose
    status_id INTEGER NOT NULL,
    original_id INTEGER, -- of a reblog
    PRIMARY KEY (kind, owner_id, status_id)
) STRICT, WITHOUT ROWID;

-- The position up to which an account has read a timeline.
CREATE TABLE markers (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    timeline TEXT NOT NULL, -- home or notifications
    last_read_id INTEGER NOT NULL,
    version INTEGER NOT NULL, -- for optimistic locking
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, timeline)
) STRICT;
