-- What the staff tells everyone. text: as written; content: the HTML made from it once, with the ids of the accounts and statuses
-- and the names of the hashtags in it. Without published_at it waits for scheduled_at, or is a draft.
CREATE TABLE announcements (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL,
    content TEXT NOT NULL,
    mentions TEXT NOT NULL,
    tags TEXT NOT NULL,
    statuses TEXT NOT NULL,
    starts_at INTEGER,
    ends_at INTEGER,
    all_day INTEGER NOT NULL,
    scheduled_at INTEGER,
    published_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

-- Who has seen one.
CREATE TABLE announcement_dismissals (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    announcement_id INTEGER NOT NULL REFERENCES announcements (id) ON DELETE CASCADE,
    PRIMARY KEY (account_id, announcement_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX announcement_dismissals_announcement ON announcement_dismissals (announcement_id);

-- name: a Unicode emoji, or the shortcode of a custom one.
CREATE TABLE announcement_reactions (
    announcement_id INTEGER NOT NULL REFERENCES announcements (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (announcement_id, name, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX announcement_reactions_account ON announcement_reactions (account_id, announcement_id);

-- How many each has: the few rows that a reader needs. id: in the order in which they were first used.
CREATE TABLE announcement_reaction_counts (
    id INTEGER PRIMARY KEY,
    announcement_id INTEGER NOT NULL REFERENCES announcements (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    count INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX announcement_reaction_counts_name ON announcement_reaction_counts (announcement_id, name);
