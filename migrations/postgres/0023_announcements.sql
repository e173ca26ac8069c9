-- What the staff tells everyone. text: as written; content: the HTML made from it once, with the ids of the accounts and statuses
-- and the names of the hashtags in it. Without published_at it waits for scheduled_at, or is a draft.
CREATE TABLE announcements (
    id BIGINT PRIMARY KEY,
    text TEXT NOT NULL,
    content TEXT NOT NULL,
    mentions JSONB NOT NULL,
    tags JSONB NOT NULL,
    statuses JSONB NOT NULL,
    starts_at TIMESTAMPTZ,
    ends_at TIMESTAMPTZ,
    all_day BOOLEAN NOT NULL,
    scheduled_at TIMESTAMPTZ,
    published_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);

-- Who has seen one.
CREATE TABLE announcement_dismissals (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    announcement_id BIGINT NOT NULL REFERENCES announcements (id) ON DELETE CASCADE,
    PRIMARY KEY (account_id, announcement_id)
);
CREATE INDEX announcement_dismissals_announcement ON announcement_dismissals (announcement_id);

-- name: a Unicode emoji, or the shortcode of a custom one.
CREATE TABLE announcement_reactions (
    announcement_id BIGINT NOT NULL REFERENCES announcements (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (announcement_id, name, account_id)
);
CREATE INDEX announcement_reactions_account ON announcement_reactions (account_id, announcement_id);

-- How many each has: the few rows that a reader needs. id: in the order in which they were first used.
CREATE TABLE announcement_reaction_counts (
    id BIGINT PRIMARY KEY,
    announcement_id BIGINT NOT NULL REFERENCES announcements (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    count BIGINT NOT NULL
);
CREATE UNIQUE INDEX announcement_reaction_counts_name ON announcement_reaction_counts (announcement_id, name);
