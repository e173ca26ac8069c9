-- Reports of accounts to the staff. status_ids, rule_ids: JSON lists, null where none were named. forwarded: to the server of the
-- reported account too, and to forward_to_domains among those that the statuses answer.
CREATE TABLE reports (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    category TEXT NOT NULL,
    comment TEXT NOT NULL,
    status_ids JSONB,
    rule_ids JSONB,
    forwarded BOOLEAN NOT NULL,
    forward_to_domains JSONB NOT NULL,
    action_taken_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX reports_account ON reports (account_id);
CREATE INDEX reports_target ON reports (target_account_id);
CREATE INDEX reports_unresolved ON reports (id) WHERE action_taken_at IS NULL;
