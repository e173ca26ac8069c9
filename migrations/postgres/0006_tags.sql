-- Hashtags: their use in statuses, followed hashtags and hashtags on profiles.

-- A hashtag.
CREATE TABLE tags (
    id BIGINT PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL, -- normal form
    display_name TEXT NOT NULL, -- the spelling of the first publicly readable status
    -- A publicly readable status had it: a search begins here, and looks for one that has.
    used_publicly BOOLEAN NOT NULL DEFAULT FALSE,
    usable BOOLEAN NOT NULL,
    listable BOOLEAN, -- may be found by a search; the decision of a review, NULL: no review
    trendable BOOLEAN, -- may be shown as a trend; the same
    last_status_at TIMESTAMPTZ,
    reviewed_at TIMESTAMPTZ,
    requested_review_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX tags_name ON tags (name);
CREATE INDEX tags_used_publicly ON tags (name) WHERE used_publicly;

-- A hashtag of a status.
CREATE TABLE status_tags (
    tag_id BIGINT NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
    status_id BIGINT NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    PRIMARY KEY (tag_id, status_id)
);
CREATE INDEX status_tags_status ON status_tags (status_id);

-- A hashtag that an account follows.
CREATE TABLE tag_follows (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    tag_id BIGINT NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX tag_follows_account ON tag_follows (account_id, tag_id);
CREATE INDEX tag_follows_tag ON tag_follows (tag_id, account_id);

-- A hashtag on the profile of an account, with the account's publicly readable statuses that have it.
CREATE TABLE featured_tags (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    tag_id BIGINT NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
    statuses_count BIGINT NOT NULL,
    last_status_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX featured_tags_account ON featured_tags (account_id, tag_id);
CREATE INDEX featured_tags_tag ON featured_tags (tag_id);
