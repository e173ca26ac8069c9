-- Archives that people ask for of what they wrote. total and done count statuses. file: the key of the stored file, once there is
-- one; finished_at is NULL while it is being made.
CREATE TABLE archives (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    total BIGINT NOT NULL,
    done BIGINT NOT NULL,
    file TEXT,
    size_bytes BIGINT NOT NULL,
    failed BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    finished_at TIMESTAMPTZ
);
CREATE INDEX archives_account ON archives (account_id, id);
