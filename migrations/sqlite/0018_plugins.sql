-- Plugins: the registry, and their schemas, feeds, events, settings and values.

-- The desired state of a plugin. A row stays when the package is gone: the plugin's tables keep their owner.
CREATE TABLE plugins (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    version TEXT,
    sha256 TEXT, -- digest of the package accepted last
    approved TEXT NOT NULL, -- list of the digests of all packages ever accepted
    refused TEXT, -- digest of the package that a rollback left
    granted TEXT NOT NULL, -- list of permissions
    limits TEXT NOT NULL,
    config TEXT NOT NULL,
    config_version INTEGER NOT NULL, -- grows with every change of the plugin's input, such as its configuration
    secrets TEXT NOT NULL,
    manifest TEXT, -- of the package that served last, for servers that cannot load it and keep its events
    public_key TEXT, -- of minisign, trusted for its packages; NULL: no signed package was installed
    source TEXT, -- origin of the last package: the URL of an index or a package, or the path of a file
    installs TEXT NOT NULL DEFAULT '[]', -- list of the latest installed packages, the latest last
    paused_until INTEGER, -- a server changes the plugin's tables: no other calls it until then
    paused_by INTEGER, -- the number of that pause
    quarantined_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX plugins_name ON plugins (name);

-- An index of packages, trusted by the key of its first use.
CREATE TABLE plugin_indexes (
    url TEXT PRIMARY KEY,
    public_key TEXT NOT NULL, -- of minisign
    signed_at INTEGER, -- the signature of the index used last, if it states the time
    created_at INTEGER NOT NULL
) STRICT;

-- A migration of a plugin that ran.
CREATE TABLE plugin_migrations (
    plugin_id INTEGER NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    name TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    compatible_from INTEGER, -- the oldest last migration of a package that still runs on this schema
    duration_ms INTEGER NOT NULL,
    applied_at INTEGER NOT NULL,
    PRIMARY KEY (plugin_id, version)
) STRICT;

-- A table of a plugin with rows that belong to accounts: deleted and exported with the account, also while the plugin
-- is off.
CREATE TABLE plugin_owner_columns (
    plugin_id INTEGER NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
    table_name TEXT NOT NULL,
    column_name TEXT NOT NULL, -- the account
    feed TEXT, -- the feed owned by the rows, whose entries are deleted with them; NULL: none
    PRIMARY KEY (plugin_id, table_name)
) STRICT;

-- A kind of feed that a plugin declares.
CREATE TABLE plugin_feeds (
    kind INTEGER PRIMARY KEY, -- of feed_entries, from 100
    plugin_id INTEGER NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
    name TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX plugin_feeds_name ON plugin_feeds (plugin_id, name);

-- The kind of the next feed of a plugin, one row: the kinds of a purged plugin are not used again.
CREATE TABLE plugin_feed_kinds (
    next INTEGER NOT NULL
) STRICT;
INSERT INTO plugin_feed_kinds (next) VALUES (100);

-- An event to deliver to a plugin, removed in the transaction of the plugin's own changes.
CREATE TABLE plugin_events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    plugin_id INTEGER NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
    stream TEXT NOT NULL, -- events or fanout
    shard INTEGER NOT NULL, -- 0 to 15, by the account; of fanout 0, and 1 for further attempts
    kind TEXT NOT NULL,
    actor_id INTEGER,
    subject_id INTEGER,
    payload TEXT,
    origin TEXT, -- JSON list of the plugins whose calls led to it
    state TEXT NOT NULL, -- ready or parked
    attempts INTEGER NOT NULL,
    last_error TEXT,
    run_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX plugin_events_ready ON plugin_events (plugin_id, stream, shard, seq) WHERE state = 'ready';
CREATE INDEX plugin_events_parked ON plugin_events (plugin_id, seq) WHERE state = 'parked';

-- The settings of an account for a plugin.
CREATE TABLE plugin_settings (
    plugin_id INTEGER NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    value TEXT NOT NULL,
    PRIMARY KEY (plugin_id, account_id)
) STRICT;
CREATE INDEX plugin_settings_account ON plugin_settings (account_id);

-- The key-value store of a plugin.
CREATE TABLE plugin_kv (
    plugin_id INTEGER NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value BLOB NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (plugin_id, key)
) STRICT;
CREATE INDEX plugin_kv_expiry ON plugin_kv (expires_at) WHERE expires_at IS NOT NULL;

-- A value that a filter of a plugin keeps with a status.
CREATE TABLE status_extras (
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    plugin_id INTEGER NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
    value TEXT NOT NULL,
    PRIMARY KEY (status_id, plugin_id)
) STRICT;
CREATE INDEX status_extras_plugin ON status_extras (plugin_id);
