-- Files that somebody imports. type: what is in the file. overwrite: what is not in it is taken away first. done and failed count
-- rows; finished_at is NULL while rows wait.
CREATE TABLE imports (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    type TEXT NOT NULL,
    overwrite BOOLEAN NOT NULL,
    total BIGINT NOT NULL,
    done BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    finished_at TIMESTAMPTZ
);
CREATE INDEX imports_account ON imports (account_id, id);

-- Rows of a file that wait, or failed (error). list and key: what a row names, in one form; entry: the row as JSON.
CREATE TABLE import_rows (
    import_id BIGINT NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    list TEXT NOT NULL,
    key TEXT NOT NULL,
    entry TEXT NOT NULL,
    error TEXT,
    PRIMARY KEY (import_id, position)
);
CREATE UNIQUE INDEX import_rows_key ON import_rows (import_id, list, key);
