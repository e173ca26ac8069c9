-- The server itself: settings, rules, announcements and keys.

-- A setting that an admin changes while the server runs. The row "generation" grows with every change, by which a
-- server notices it.
CREATE TABLE settings (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

-- A rule of the server.
CREATE TABLE rules (
    id INTEGER PRIMARY KEY,
    priority INTEGER NOT NULL, -- the order
    text TEXT NOT NULL,
    hint TEXT NOT NULL, -- further explanation
    deleted_at INTEGER, -- a deleted rule is kept
    created_at INTEGER NOT NULL
) STRICT;

-- An announcement of the staff. Without published_at it waits for scheduled_at, or is a draft.
CREATE TABLE announcements (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL, -- as written
    content TEXT NOT NULL, -- HTML, rendered once from text
    mentions TEXT NOT NULL, -- list of the ids of accounts in the text
    tags TEXT NOT NULL, -- list of the names of hashtags in the text
    statuses TEXT NOT NULL, -- list of the ids of statuses in the text
    starts_at INTEGER,
    ends_at INTEGER,
    all_day INTEGER NOT NULL,
    scheduled_at INTEGER,
    published_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

-- An account that has seen an announcement.
CREATE TABLE announcement_dismissals (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    announcement_id INTEGER NOT NULL REFERENCES announcements (id) ON DELETE CASCADE,
    PRIMARY KEY (account_id, announcement_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX announcement_dismissals_announcement ON announcement_dismissals (announcement_id);

-- A reaction of an account to an announcement.
CREATE TABLE announcement_reactions (
    announcement_id INTEGER NOT NULL REFERENCES announcements (id) ON DELETE CASCADE,
    name TEXT NOT NULL, -- a Unicode emoji, or the shortcode of a custom one
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (announcement_id, name, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX announcement_reactions_account ON announcement_reactions (account_id, announcement_id);

-- The number of reactions of each name: the few rows that a read needs.
CREATE TABLE announcement_reaction_counts (
    id INTEGER PRIMARY KEY, -- in the order of the first use
    announcement_id INTEGER NOT NULL REFERENCES announcements (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    count INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX announcement_reaction_counts_name ON announcement_reaction_counts (announcement_id, name);

-- A key of the server itself, named by its purpose.
CREATE TABLE server_keys (
    name TEXT PRIMARY KEY,
    private_key TEXT NOT NULL, -- sealed
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Use of the translation service.
CREATE TABLE translation_use (
    day INTEGER PRIMARY KEY, -- counted from the epoch, in UTC
    characters INTEGER NOT NULL
) STRICT;
