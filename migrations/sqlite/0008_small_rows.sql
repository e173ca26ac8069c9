-- Rows and indexes that cost less to write. A table is copied back and forth, since renaming one would touch the views.

-- Feeds: the key is the row. original_id: only of a reblog. An entry has no foreign key to its status: those of deleted
-- statuses are left out when a feed is read, and fall out when it is trimmed.
CREATE TEMPORARY TABLE feed_entries_before AS
SELECT kind, owner_id, status_id, NULLIF(original_id, status_id) AS original_id FROM feed_entries;
DROP TABLE feed_entries;
CREATE TABLE feed_entries (
    kind INTEGER NOT NULL,
    owner_id INTEGER NOT NULL,
    status_id INTEGER NOT NULL,
    original_id INTEGER,
    PRIMARY KEY (kind, owner_id, status_id)
) STRICT, WITHOUT ROWID;
INSERT INTO feed_entries (kind, owner_id, status_id, original_id)
SELECT kind, owner_id, status_id, original_id FROM temp.feed_entries_before ORDER BY kind, owner_id, status_id;
DROP TABLE temp.feed_entries_before;

CREATE TEMPORARY TABLE status_tags_before AS SELECT tag_id, status_id FROM status_tags;
DROP TABLE status_tags;
CREATE TABLE status_tags (
    tag_id INTEGER NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    PRIMARY KEY (tag_id, status_id)
) STRICT, WITHOUT ROWID;
INSERT INTO status_tags (tag_id, status_id) SELECT tag_id, status_id FROM temp.status_tags_before ORDER BY tag_id, status_id;
CREATE INDEX status_tags_status ON status_tags (status_id);
DROP TABLE temp.status_tags_before;

-- Kept for an hour. No foreign key to the status: whether that still exists is asked when the key is used again.
CREATE TEMPORARY TABLE idempotency_keys_before AS SELECT account_id, key, status_id, created_at FROM idempotency_keys;
DROP TABLE idempotency_keys;
CREATE TABLE idempotency_keys (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    status_id INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, key)
) STRICT, WITHOUT ROWID;
INSERT INTO idempotency_keys (account_id, key, status_id, created_at)
SELECT account_id, key, status_id, created_at FROM temp.idempotency_keys_before;
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);
DROP TABLE temp.idempotency_keys_before;

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
