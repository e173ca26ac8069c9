-- Statuses to be published later. params: the request as JSON. failure: why it was not published when its time came; none
-- before, and again once it has another time.
CREATE TABLE scheduled_statuses (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    scheduled_at TIMESTAMPTZ NOT NULL,
    params JSONB NOT NULL,
    failure TEXT,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX scheduled_statuses_account ON scheduled_statuses (account_id, id);

-- The scheduled status that an attachment is kept for. An idempotency key may name one as well as a status.
ALTER TABLE media_attachments ADD COLUMN scheduled_status_id BIGINT REFERENCES scheduled_statuses (id) ON DELETE SET NULL;
CREATE INDEX media_attachments_scheduled ON media_attachments (scheduled_status_id, position)
    WHERE scheduled_status_id IS NOT NULL;
