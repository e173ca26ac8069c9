-- Plugins: what the admin wants of each. Rows stay when a package is gone, so that its tables keep their owner.
-- sha256: digest of the package that the admin accepted last; approved: of all that ever were; refused: of the one that was
-- rolled back from. config_version: grows with every change of what the plugin is given.
CREATE TABLE plugins (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    version TEXT,
    sha256 TEXT,
    approved TEXT NOT NULL,
    granted TEXT NOT NULL,
    limits TEXT NOT NULL,
    config TEXT NOT NULL,
    config_version INTEGER NOT NULL,
    secrets TEXT NOT NULL,
    refused TEXT,
    quarantined_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX plugins_name ON plugins (name);

-- compatible_from: the oldest last migration of a package that still runs on this schema.
CREATE TABLE plugin_migrations (
    plugin_id INTEGER NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    name TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    applied_at INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    compatible_from INTEGER,
    PRIMARY KEY (plugin_id, version)
) STRICT;

-- The tables of plugins with rows that belong to accounts: deleted and given out with the account, also while the plugin is off.
CREATE TABLE plugin_owner_columns (
    plugin_id INTEGER NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
    table_name TEXT NOT NULL,
    column_name TEXT NOT NULL,
    PRIMARY KEY (plugin_id, table_name)
) STRICT;

-- Numbers of feed_entries.kind, from 100 up.
CREATE TABLE plugin_feeds (
    kind INTEGER PRIMARY KEY,
    plugin_id INTEGER NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
    name TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX plugin_feeds_name ON plugin_feeds (plugin_id, name);

-- What a plugin is still to be told: one row for each plugin and event, removed in the transaction of what it did.
-- stream: events or fanout. shard: 0 to 15, by the account; of fanout 0, and 1 for what is tried again.
-- origin: the plugins behind it, a JSON list. state: ready or parked.
CREATE TABLE plugin_events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    plugin_id INTEGER NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
    stream TEXT NOT NULL,
    shard INTEGER NOT NULL,
    kind TEXT NOT NULL,
    actor_id INTEGER,
    subject_id INTEGER,
    payload TEXT,
    origin TEXT,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    run_at INTEGER NOT NULL,
    last_error TEXT,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX plugin_events_ready ON plugin_events (plugin_id, stream, shard, seq) WHERE state = 'ready';
CREATE INDEX plugin_events_parked ON plugin_events (plugin_id, seq) WHERE state = 'parked';

CREATE TABLE plugin_settings (
    plugin_id INTEGER NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    value TEXT NOT NULL,
    PRIMARY KEY (plugin_id, account_id)
) STRICT;
CREATE INDEX plugin_settings_account ON plugin_settings (account_id);

CREATE TABLE plugin_kv (
    plugin_id INTEGER NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value BLOB NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (plugin_id, key)
) STRICT;
CREATE INDEX plugin_kv_expiry ON plugin_kv (expires_at) WHERE expires_at IS NOT NULL;

-- What a plugin's filter keeps with a status.
CREATE TABLE status_extras (
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    plugin_id INTEGER NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
    value TEXT NOT NULL,
    PRIMARY KEY (status_id, plugin_id)
) STRICT;
CREATE INDEX status_extras_plugin ON status_extras (plugin_id);
