-- Groups of notifications, by which a page of groups is read without reading all their members. id: of the first
-- notification. type, status_id: as of the members. last_id: the newest notification that joined, also when it was taken back since.
CREATE TABLE notification_groups (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    group_key TEXT NOT NULL,
    type TEXT NOT NULL,
    status_id INTEGER REFERENCES statuses (id) ON DELETE CASCADE,
    last_id INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX notification_groups_key ON notification_groups (account_id, group_key);
CREATE INDEX notification_groups_newest ON notification_groups (account_id, type, last_id);
CREATE INDEX notification_groups_status ON notification_groups (status_id) WHERE status_id IS NOT NULL;

INSERT INTO notification_groups (id, account_id, group_key, type, status_id, last_id)
SELECT MIN(id), account_id, group_key, MIN(type), MIN(status_id), MAX(id)
FROM notifications WHERE group_key IS NOT NULL GROUP BY account_id, group_key;

-- Notifications outside of groups, of the types that may have groups.
CREATE INDEX notifications_single ON notifications (account_id, type, id)
    WHERE group_key IS NULL AND type NOT IN ('mention', 'status', 'list_status', 'status_reference', 'follow_request', 'poll', 'update', 'severed_relationships', 'moderation_warning', 'admin.sign_up', 'admin.report');
-- Filtered notifications of a sender.
CREATE INDEX notifications_filtered ON notifications (account_id, from_account_id, type, id) WHERE filtered;

-- What happens to notifications from some kinds of senders: accept, filter or drop. No row: the defaults.
CREATE TABLE notification_policies (
    account_id INTEGER PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    for_not_following TEXT NOT NULL,
    for_not_followers TEXT NOT NULL,
    for_new_accounts TEXT NOT NULL,
    for_private_mentions TEXT NOT NULL,
    for_limited_accounts TEXT NOT NULL
) STRICT;

-- Senders to whom the policy does not apply. merging: a job has yet to show what was filtered before.
CREATE TABLE notification_permissions (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    from_account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    merging INTEGER NOT NULL,
    PRIMARY KEY (account_id, from_account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX notification_permissions_from ON notification_permissions (from_account_id);
CREATE INDEX notification_permissions_merging ON notification_permissions (account_id) WHERE merging;

-- Senders of filtered mentions. updated_at: when the last mention came. The mentions are counted when a request is read.
CREATE TABLE notification_requests (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    from_account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX notification_requests_pair ON notification_requests (account_id, from_account_id);
CREATE INDEX notification_requests_account ON notification_requests (account_id, id);
CREATE INDEX notification_requests_from ON notification_requests (from_account_id);

INSERT INTO notification_requests (id, account_id, from_account_id, created_at, updated_at)
SELECT MAX(id), account_id, from_account_id, MIN(created_at), MAX(created_at)
FROM notifications WHERE filtered AND type = 'mention' GROUP BY account_id, from_account_id;
