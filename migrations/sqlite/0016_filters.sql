-- Filters of statuses. context: a JSON list of where the filter applies.
CREATE TABLE filters (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    context TEXT NOT NULL,
    action TEXT NOT NULL,
    expires_at INTEGER,
    exclude_follows INTEGER NOT NULL,
    exclude_local_users INTEGER NOT NULL,
    with_quote INTEGER NOT NULL,
    with_profile INTEGER NOT NULL
) STRICT;
CREATE INDEX filters_account ON filters (account_id, id);

CREATE TABLE filter_keywords (
    id INTEGER PRIMARY KEY,
    filter_id INTEGER NOT NULL REFERENCES filters (id) ON DELETE CASCADE,
    keyword TEXT NOT NULL,
    whole_word INTEGER NOT NULL
) STRICT;
CREATE INDEX filter_keywords_filter ON filter_keywords (filter_id, id);

CREATE TABLE filter_statuses (
    id INTEGER PRIMARY KEY,
    filter_id INTEGER NOT NULL REFERENCES filters (id) ON DELETE CASCADE,
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE
) STRICT;
CREATE UNIQUE INDEX filter_statuses_pair ON filter_statuses (filter_id, status_id);
CREATE INDEX filter_statuses_status ON filter_statuses (status_id);

-- Its absolute value is raised with every change of the account's filters: servers keep them in memory by it. Not above 0
-- while there are none.
ALTER TABLE accounts ADD COLUMN filters_version INTEGER NOT NULL DEFAULT 0;
