-- Hosts of other servers that do not receive what they are sent.

-- A host that failed, or whose deliveries an operator paused.
CREATE TABLE remote_hosts (
    host TEXT PRIMARY KEY, -- with its port unless it is the usual one
    failures BIGINT NOT NULL, -- consecutive attempts to reach it that failed
    failed_days BIGINT NOT NULL, -- distinct days with such an attempt
    failed_at TIMESTAMPTZ, -- the last of them
    error TEXT, -- of the last of them
    unavailable_at TIMESTAMPTZ, -- set aside since; NULL: not
    tried_at TIMESTAMPTZ, -- the last delivery that was queued although the host is set aside
    paused_at TIMESTAMPTZ -- NULL: not paused
);

-- An inbox that failed while its host responds: others of the host do not wait for it.
CREATE TABLE inbox_pauses (
    inbox TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    until TIMESTAMPTZ NOT NULL,
    error TEXT NOT NULL
);
CREATE INDEX inbox_pauses_host ON inbox_pauses (host, until);
CREATE INDEX inbox_pauses_age ON inbox_pauses (until);

-- A delivery that was given up.
CREATE TABLE dead_deliveries (
    id BIGINT PRIMARY KEY,
    document_id BIGINT NOT NULL REFERENCES outbound_documents (id) ON DELETE CASCADE,
    host TEXT NOT NULL,
    inbox TEXT NOT NULL,
    error TEXT NOT NULL, -- of the last attempt
    created_at TIMESTAMPTZ NOT NULL, -- of the delivery
    died_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX dead_deliveries_host ON dead_deliveries (host, id);
CREATE INDEX dead_deliveries_document ON dead_deliveries (document_id);
CREATE INDEX dead_deliveries_age ON dead_deliveries (died_at);
