-- Filters of statuses. context: a JSON list of where the filter applies.
CREATE TABLE filters (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    context JSONB NOT NULL,
    action TEXT NOT NULL,
    expires_at TIMESTAMPTZ,
    exclude_follows BOOLEAN NOT NULL,
    exclude_local_users BOOLEAN NOT NULL,
    with_quote BOOLEAN NOT NULL,
    with_profile BOOLEAN NOT NULL
);
CREATE INDEX filters_account ON filters (account_id, id);

CREATE TABLE filter_keywords (
    id BIGINT PRIMARY KEY,
    filter_id BIGINT NOT NULL REFERENCES filters (id) ON DELETE CASCADE,
    keyword TEXT NOT NULL,
    whole_word BOOLEAN NOT NULL
);
CREATE INDEX filter_keywords_filter ON filter_keywords (filter_id, id);

CREATE TABLE filter_statuses (
    id BIGINT PRIMARY KEY,
    filter_id BIGINT NOT NULL REFERENCES filters (id) ON DELETE CASCADE,
    status_id BIGINT NOT NULL REFERENCES statuses (id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX filter_statuses_pair ON filter_statuses (filter_id, status_id);
CREATE INDEX filter_statuses_status ON filter_statuses (status_id);

-- Its absolute value is raised with every change of the account's filters: servers keep them in memory by it. Not above 0
-- while there are none.
ALTER TABLE accounts ADD COLUMN filters_version BIGINT NOT NULL DEFAULT 0;
