-- Notifications, their groups and policies, and push subscriptions.

-- A notification of account_id about an action of from_account_id.
CREATE TABLE notifications (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    from_account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id INTEGER REFERENCES statuses (id) ON DELETE CASCADE, -- shown with it; of a reblog the original
    -- The row that caused it, in a table that follows from the type: such as a follow, a favourite or a mention.
    activity_id INTEGER NOT NULL,
    type TEXT NOT NULL, -- of the server, or declared by a plugin
    group_key TEXT, -- NULL: outside of groups
    filtered INTEGER NOT NULL, -- by the policy of the account: listed on request only
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX notifications_activity ON notifications (activity_id, type, account_id);
CREATE INDEX notifications_account ON notifications (account_id, id);
CREATE INDEX notifications_type ON notifications (account_id, type, id);
CREATE INDEX notifications_group ON notifications (account_id, group_key, id) WHERE group_key IS NOT NULL;
CREATE INDEX notifications_from ON notifications (from_account_id, account_id, id);
CREATE INDEX notifications_status ON notifications (status_id) WHERE status_id IS NOT NULL;
-- Notifications of types that plugins declare: counted for their quotas, and deleted when a plugin is purged.
CREATE INDEX notifications_of_plugins ON notifications (type, id)
    WHERE type NOT IN ('mention', 'status', 'list_status', 'reblog', 'status_reference', 'follow', 'follow_request',
        'favourite', 'poll', 'update', 'severed_relationships', 'moderation_warning', 'admin.sign_up', 'admin.report');
-- Notifications outside of groups, of types that may have groups.
CREATE INDEX notifications_single ON notifications (account_id, type, id)
    WHERE group_key IS NULL AND type NOT IN ('mention', 'status', 'list_status', 'status_reference', 'follow_request',
        'poll', 'update', 'severed_relationships', 'moderation_warning', 'admin.sign_up', 'admin.report');
-- Filtered notifications of a sender.
CREATE INDEX notifications_filtered ON notifications (account_id, from_account_id, type, id) WHERE filtered;

-- A group of notifications: a page of groups is read without reading all members.
CREATE TABLE notification_groups (
    id INTEGER PRIMARY KEY, -- of the first notification
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id INTEGER REFERENCES statuses (id) ON DELETE CASCADE, -- as of the members
    last_id INTEGER NOT NULL, -- the newest notification that joined; it may have been deleted
    group_key TEXT NOT NULL,
    type TEXT NOT NULL -- as of the members
) STRICT;
CREATE UNIQUE INDEX notification_groups_key ON notification_groups (account_id, group_key);
CREATE INDEX notification_groups_newest ON notification_groups (account_id, type, last_id);
CREATE INDEX notification_groups_status ON notification_groups (status_id) WHERE status_id IS NOT NULL;

-- A notification to be made, once the plugins that judge notifications have answered. Removed in the transaction that
-- makes it.
CREATE TABLE notices (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    from_account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id INTEGER REFERENCES statuses (id) ON DELETE CASCADE,
    activity_id INTEGER NOT NULL, -- as of the notification
    type TEXT NOT NULL, -- as of the notification
    origin TEXT -- JSON list of the plugins whose calls led to it
) STRICT;
CREATE INDEX notices_activity ON notices (activity_id, type);
CREATE INDEX notices_account ON notices (account_id);
CREATE INDEX notices_from_account ON notices (from_account_id);
CREATE INDEX notices_status ON notices (status_id) WHERE status_id IS NOT NULL;

-- The activity of a notification of the type list_status: the list that a status entered. One row for an account and a
-- status, for the first of the account's lists.
CREATE TABLE list_notices (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    list_id INTEGER NOT NULL REFERENCES lists (id) ON DELETE CASCADE
) STRICT;
CREATE UNIQUE INDEX list_notices_status ON list_notices (status_id, account_id);
CREATE INDEX list_notices_account ON list_notices (account_id);
CREATE INDEX list_notices_list ON list_notices (list_id);

-- The decision of an account about notifications from kinds of senders: accept, filter or drop. No row: the defaults.
CREATE TABLE notification_policies (
    account_id INTEGER PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    for_not_following TEXT NOT NULL,
    for_not_followers TEXT NOT NULL,
    for_new_accounts TEXT NOT NULL,
    for_private_mentions TEXT NOT NULL,
    for_limited_accounts TEXT NOT NULL
) STRICT;

-- A sender that is exempt from the policy of account_id.
CREATE TABLE notification_permissions (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    from_account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    merging INTEGER NOT NULL, -- a job is still to show earlier notifications, which were filtered
    PRIMARY KEY (account_id, from_account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX notification_permissions_from ON notification_permissions (from_account_id);
CREATE INDEX notification_permissions_merging ON notification_permissions (account_id) WHERE merging;

-- A sender of filtered mentions. The mentions are counted when the request is read.
CREATE TABLE notification_requests (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    from_account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL -- the time of the last mention
) STRICT;
CREATE UNIQUE INDEX notification_requests_pair ON notification_requests (account_id, from_account_id);
CREATE INDEX notification_requests_account ON notification_requests (account_id, id);
CREATE INDEX notification_requests_from ON notification_requests (from_account_id);

-- A subscription to push messages, at most one for each access token.
CREATE TABLE push_subscriptions (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- as clients know it; some read 32 bits
    token_id INTEGER NOT NULL REFERENCES oauth_tokens (id) ON DELETE CASCADE,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    endpoint TEXT NOT NULL,
    p256dh TEXT NOT NULL, -- public key of the client
    auth TEXT NOT NULL, -- secret of the client
    standard INTEGER NOT NULL, -- in the encoding aes128gcm
    alerts TEXT NOT NULL, -- object of booleans by type of notification
    policy TEXT NOT NULL, -- senders: all, followed, follower or none
    failing_since INTEGER, -- the push service has failed since, without a success
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX push_subscriptions_token ON push_subscriptions (token_id);
CREATE INDEX push_subscriptions_account ON push_subscriptions (account_id);
