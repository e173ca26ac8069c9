-- Filters of statuses.

-- A filter of an account: it applies to its keywords and to its statuses.
CREATE TABLE filters (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    context JSONB NOT NULL, -- list of places: home, notifications, public, thread, account, explore
    action TEXT NOT NULL, -- warn, half_warn or hide
    exclude_follows BOOLEAN NOT NULL, -- not applied to followed accounts
    exclude_local_users BOOLEAN NOT NULL, -- not applied to local accounts
    with_quote BOOLEAN NOT NULL, -- applied to the text of quoted statuses too
    with_profile BOOLEAN NOT NULL, -- applied to the profile of the author too
    expires_at TIMESTAMPTZ
);
CREATE INDEX filters_account ON filters (account_id, id);

-- A word or phrase that a filter looks for.
CREATE TABLE filter_keywords (
    id BIGINT PRIMARY KEY,
    filter_id BIGINT NOT NULL REFERENCES filters (id) ON DELETE CASCADE,
    keyword TEXT NOT NULL,
    whole_word BOOLEAN NOT NULL
);
CREATE INDEX filter_keywords_filter ON filter_keywords (filter_id, id);

-- A status that a filter names.
CREATE TABLE filter_statuses (
    id BIGINT PRIMARY KEY,
    filter_id BIGINT NOT NULL REFERENCES filters (id) ON DELETE CASCADE,
    status_id BIGINT NOT NULL REFERENCES statuses (id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX filter_statuses_pair ON filter_statuses (filter_id, status_id);
CREATE INDEX filter_statuses_status ON filter_statuses (status_id);
