-- Plugins: what the admin wants of each. Rows stay when a package is gone, so that its tables keep their owner.
-- granted, limits, config, history: JSON. sha256: the component that was approved last; approved: a JSON list of all.
CREATE TABLE plugins (
    id BIGINT PRIMARY KEY,
    name TEXT NOT NULL,
    enabled BOOLEAN NOT NULL,
    version TEXT,
    sha256 TEXT,
    approved JSONB NOT NULL,
    granted JSONB NOT NULL,
    limits JSONB NOT NULL,
    config JSONB NOT NULL,
    config_version BIGINT NOT NULL,
    secrets JSONB NOT NULL,
    position BIGINT NOT NULL,
    quarantined_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX plugins_name ON plugins (name);

CREATE TABLE plugin_migrations (
    plugin_id BIGINT NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
    version BIGINT NOT NULL,
    name TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    applied_at TIMESTAMPTZ NOT NULL,
    duration_ms BIGINT NOT NULL,
    PRIMARY KEY (plugin_id, version)
);

-- Numbers of feed_entries.kind, from 100 up.
CREATE TABLE plugin_feeds (
    kind BIGINT PRIMARY KEY,
    plugin_id BIGINT NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
    name TEXT NOT NULL
);
CREATE UNIQUE INDEX plugin_feeds_name ON plugin_feeds (plugin_id, name);

-- What a plugin is still to be told: one row for each plugin and event, removed in the transaction of what it did.
-- stream: events or fanout. shard: the account's id modulo 16. state: ready or parked.
CREATE TABLE plugin_events (
    seq BIGINT PRIMARY KEY,
    plugin_id BIGINT NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
    stream TEXT NOT NULL,
    shard BIGINT NOT NULL,
    kind TEXT NOT NULL,
    actor_id BIGINT,
    subject_id BIGINT,
    payload JSONB,
    state TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    run_at TIMESTAMPTZ NOT NULL,
    last_error TEXT,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX plugin_events_ready ON plugin_events (plugin_id, stream, shard, seq) WHERE state = 'ready';
CREATE INDEX plugin_events_parked ON plugin_events (plugin_id, seq) WHERE state = 'parked';

CREATE TABLE plugin_settings (
    plugin_id BIGINT NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    value JSONB NOT NULL,
    PRIMARY KEY (plugin_id, account_id)
);
CREATE INDEX plugin_settings_account ON plugin_settings (account_id);

CREATE TABLE plugin_kv (
    plugin_id BIGINT NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
    key TEXT COLLATE "C" NOT NULL,
    value BYTEA NOT NULL,
    expires_at TIMESTAMPTZ,
    PRIMARY KEY (plugin_id, key)
);
CREATE INDEX plugin_kv_expiry ON plugin_kv (expires_at) WHERE expires_at IS NOT NULL;

-- What a plugin's filter keeps with a status.
CREATE TABLE status_extras (
    status_id BIGINT NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    plugin_id BIGINT NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
    value JSONB NOT NULL,
    PRIMARY KEY (status_id, plugin_id)
);
CREATE INDEX status_extras_plugin ON status_extras (plugin_id);
