-- What people may be told of, until plugins that judge notifications were asked. Removed in the transaction that makes the
-- notifications. type, activity_id: as of the notification. origin: the plugins behind it, a JSON list.
CREATE TABLE notices (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    from_account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    type TEXT NOT NULL,
    activity_id BIGINT NOT NULL,
    status_id BIGINT REFERENCES statuses (id) ON DELETE CASCADE,
    origin TEXT
);
CREATE INDEX notices_activity ON notices (activity_id, type);
CREATE INDEX notices_account ON notices (account_id);
CREATE INDEX notices_from_account ON notices (from_account_id);
CREATE INDEX notices_status ON notices (status_id) WHERE status_id IS NOT NULL;
