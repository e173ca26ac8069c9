-- Control of users over their own data: imports, archives and automatic deletion of statuses.

-- An imported file.
CREATE TABLE imports (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    type TEXT NOT NULL, -- the content of the file
    overwrite INTEGER NOT NULL, -- entries that the file lacks are removed first
    total INTEGER NOT NULL, -- rows of the file
    done INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    finished_at INTEGER -- NULL: rows wait
) STRICT;
CREATE INDEX imports_account ON imports (account_id, id);

-- A row of a file that waits or failed.
CREATE TABLE import_rows (
    import_id INTEGER NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    list TEXT NOT NULL, -- with key: the subject of the row, in one form
    key TEXT NOT NULL,
    entry TEXT NOT NULL, -- the row as JSON
    error TEXT,
    PRIMARY KEY (import_id, position)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX import_rows_key ON import_rows (import_id, list, key);

-- An archive of an account's statuses, made on request.
CREATE TABLE archives (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    file TEXT, -- storage key; NULL: not stored yet
    size_bytes INTEGER NOT NULL,
    total INTEGER NOT NULL, -- statuses
    done INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    finished_at INTEGER -- NULL: in progress
) STRICT;
CREATE INDEX archives_account ON archives (account_id, id);

-- Automatic deletion of a user's old statuses. Without a row, and while it is not enabled, all are kept.
CREATE TABLE status_cleanup_policies (
    account_id INTEGER PRIMARY KEY REFERENCES users (account_id) ON DELETE CASCADE,
    enabled INTEGER NOT NULL,
    min_status_age INTEGER NOT NULL, -- in seconds
    keep_direct INTEGER NOT NULL,
    keep_pinned INTEGER NOT NULL,
    keep_polls INTEGER NOT NULL,
    keep_media INTEGER NOT NULL,
    keep_self_fav INTEGER NOT NULL,
    keep_self_bookmark INTEGER NOT NULL,
    min_favs INTEGER, -- statuses with as many are kept; NULL: no such exception
    min_reblogs INTEGER -- the same
) STRICT;

-- The choice of a user about an exception that a plugin adds. Without a row the plugin's default holds.
CREATE TABLE status_cleanup_exceptions (
    account_id INTEGER NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    plugin_id INTEGER NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
    name TEXT NOT NULL, -- such as emoji_reactions.own
    least INTEGER NOT NULL, -- the chosen number; 1 for an exception without one, 0: off
    PRIMARY KEY (account_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX status_cleanup_exceptions_plugin ON status_cleanup_exceptions (plugin_id);
