-- Rows and indexes that cost less to write.

-- Feeds. original_id: only of a reblog. An entry has no foreign key to its status: those of deleted statuses are left out
-- when a feed is read, and fall out when it is trimmed. Copied, so that no dead rows are left behind.
ALTER TABLE feed_entries RENAME TO feed_entries_before;
ALTER TABLE feed_entries_before DROP CONSTRAINT feed_entries_pkey;
CREATE TABLE feed_entries (
    kind SMALLINT NOT NULL,
    owner_id BIGINT NOT NULL,
    status_id BIGINT NOT NULL,
    original_id BIGINT
);
INSERT INTO feed_entries (kind, owner_id, status_id, original_id)
SELECT kind, owner_id, status_id, NULLIF(original_id, status_id) FROM feed_entries_before ORDER BY kind, owner_id, status_id;
ALTER TABLE feed_entries ADD PRIMARY KEY (kind, owner_id, status_id);
DROP TABLE feed_entries_before;

-- Kept for an hour. No foreign key to the status: whether that still exists is asked when the key is used again.
ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_status_id_fkey;
DROP INDEX idempotency_keys_status;

-- The uri of a local status follows from its id, and is looked up by that.
DROP INDEX statuses_uri;
CREATE UNIQUE INDEX statuses_uri ON statuses (uri) WHERE NOT local;

-- The local timeline, and the local statuses of each week.
DROP INDEX statuses_listed_local;
DROP INDEX statuses_local;
CREATE INDEX statuses_local ON statuses (listed, id) WHERE local;

-- Statuses are not looked up by their conversation, and conversations are not deleted.
DROP INDEX statuses_conversation;

-- Plugins are asked about notifications in a lane of their own.
UPDATE jobs SET lane = 'notice' WHERE kind = 'judge_notices';

-- Who is told of each new status of someone: few of the many followers.
CREATE INDEX follows_notified ON follows (target_account_id, account_id) WHERE notify;
