-- Control of users over their own data: imports, archives and automatic deletion of statuses.

-- An imported file.
CREATE TABLE imports (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    type TEXT NOT NULL, -- the content of the file
    overwrite BOOLEAN NOT NULL, -- entries that the file lacks are removed first
    total BIGINT NOT NULL, -- rows of the file
    done BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    finished_at TIMESTAMPTZ -- NULL: rows wait
);
CREATE INDEX imports_account ON imports (account_id, id);

-- A row of a file that waits or failed.
CREATE TABLE import_rows (
    import_id BIGINT NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    list TEXT NOT NULL, -- with key: the subject of the row, in one form
    key TEXT NOT NULL,
    entry TEXT NOT NULL, -- the row as JSON
    error TEXT,
    PRIMARY KEY (import_id, position)
);
CREATE UNIQUE INDEX import_rows_key ON import_rows (import_id, list, key);

-- An archive of an account's statuses, made on request.
CREATE TABLE archives (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    file TEXT, -- storage key; NULL: not stored yet
    size_bytes BIGINT NOT NULL,
    total BIGINT NOT NULL, -- statuses
    done BIGINT NOT NULL,
    failed BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    finished_at TIMESTAMPTZ -- NULL: in progress
);
CREATE INDEX archives_account ON archives (account_id, id);

-- Automatic deletion of a user's old statuses. Without a row, and while it is not enabled, all are kept.
CREATE TABLE status_cleanup_policies (
    account_id BIGINT PRIMARY KEY REFERENCES users (account_id) ON DELETE CASCADE,
    enabled BOOLEAN NOT NULL,
    min_status_age BIGINT NOT NULL, -- in seconds
    keep_direct BOOLEAN NOT NULL,
    keep_pinned BOOLEAN NOT NULL,
    keep_polls BOOLEAN NOT NULL,
    keep_media BOOLEAN NOT NULL,
    keep_self_fav BOOLEAN NOT NULL,
    keep_self_bookmark BOOLEAN NOT NULL,
    min_favs BIGINT, -- statuses with as many are kept; NULL: no such exception
    min_reblogs BIGINT -- the same
);

-- The choice of a user about an exception that a plugin adds. Without a row the plugin's default holds.
CREATE TABLE status_cleanup_exceptions (
    account_id BIGINT NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    plugin_id BIGINT NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
    name TEXT NOT NULL, -- such as emoji_reactions.own
    least BIGINT NOT NULL, -- the chosen number; 1 for an exception without one, 0: off
    PRIMARY KEY (account_id, name)
);
CREATE INDEX status_cleanup_exceptions_plugin ON status_cleanup_exceptions (plugin_id);
