-- Archives that people ask for of what they wrote. total and done count statuses. file: the key of the stored file, once there is
-- one; finished_at is NULL while it is being made.
CREATE TABLE archives (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    total INTEGER NOT NULL,
    done INTEGER NOT NULL,
    file TEXT,
    size_bytes INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    finished_at INTEGER
) STRICT;
CREATE INDEX archives_account ON archives (account_id, id);
