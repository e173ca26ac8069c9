-- Relationships between accounts: follows, blocks, mutes, lost relationships, notes, endorsements and suggestions.

-- account_id follows target_account_id.
CREATE TABLE follows (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    show_reblogs BOOLEAN NOT NULL,
    notify BOOLEAN NOT NULL, -- of each new status
    languages JSONB, -- list of the languages to show; NULL: all
    uri TEXT, -- of the activity
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX follows_pair ON follows (account_id, target_account_id);
CREATE INDEX follows_account ON follows (account_id, id);
CREATE INDEX follows_target ON follows (target_account_id, id);
CREATE INDEX follows_fanout ON follows (target_account_id, account_id);
-- The few followers to notify, among many.
CREATE INDEX follows_notified ON follows (target_account_id, account_id) WHERE notify;

-- A follow that waits for the approval of target_account_id.
CREATE TABLE follow_requests (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    show_reblogs BOOLEAN NOT NULL,
    notify BOOLEAN NOT NULL,
    languages JSONB,
    uri TEXT,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX follow_requests_pair ON follow_requests (account_id, target_account_id);
CREATE INDEX follow_requests_target ON follow_requests (target_account_id, id);

-- account_id blocks target_account_id.
CREATE TABLE blocks (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    uri TEXT, -- of the activity
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX blocks_pair ON blocks (account_id, target_account_id);
CREATE INDEX blocks_account ON blocks (account_id, id);
CREATE INDEX blocks_target ON blocks (target_account_id, account_id);

-- account_id mutes target_account_id.
CREATE TABLE mutes (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    hide_notifications BOOLEAN NOT NULL,
    expires_at TIMESTAMPTZ, -- NULL: without an end
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX mutes_pair ON mutes (account_id, target_account_id);
CREATE INDEX mutes_account ON mutes (account_id, id);
CREATE INDEX mutes_target ON mutes (target_account_id, account_id);
CREATE INDEX mutes_expiry ON mutes (expires_at) WHERE expires_at IS NOT NULL;

-- A domain that an account blocks for itself.
CREATE TABLE account_domain_blocks (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    domain TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX account_domain_blocks_pair ON account_domain_blocks (account_id, domain);
CREATE INDEX account_domain_blocks_account ON account_domain_blocks (account_id, id);

-- Relationships of an account that ended together, the subject of a notification.
CREATE TABLE account_severances (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    type TEXT NOT NULL, -- domain_block, user_domain_block or account_suspension
    target_name TEXT NOT NULL, -- the domain or the account
    purged BOOLEAN NOT NULL, -- the names of the accounts are not known any more
    followers_count BIGINT NOT NULL,
    following_count BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX account_severances_account ON account_severances (account_id);

-- A private note of account_id about target_account_id.
CREATE TABLE account_notes (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    comment TEXT NOT NULL,
    PRIMARY KEY (account_id, target_account_id)
);
CREATE INDEX account_notes_target ON account_notes (target_account_id);

-- An account that another one features on its profile.
CREATE TABLE endorsements (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX endorsements_pair ON endorsements (account_id, target_account_id);
CREATE INDEX endorsements_target ON endorsements (target_account_id);

-- An account that is never suggested to account_id again.
CREATE TABLE suggestion_dismissals (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (account_id, target_account_id)
);
CREATE INDEX suggestion_dismissals_target ON suggestion_dismissals (target_account_id);
