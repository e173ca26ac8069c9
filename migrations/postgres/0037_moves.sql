-- Accounts that moved: when, to where, and how far their followers have been carried over.

CREATE TABLE account_moves (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    followers_count BIGINT NOT NULL, -- when it moved
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX account_moves_account ON account_moves (account_id, id);
CREATE INDEX account_moves_target ON account_moves (target_account_id);

-- The types that the core declares, with the new one.
DROP INDEX notifications_of_plugins;
CREATE INDEX notifications_of_plugins ON notifications (type, id)
    WHERE type NOT IN ('mention', 'status', 'list_status', 'reblog', 'status_reference', 'follow', 'follow_request',
        'favourite', 'poll', 'update', 'severed_relationships', 'moderation_warning', 'move', 'admin.sign_up', 'admin.report');
DROP INDEX notifications_single;
CREATE INDEX notifications_single ON notifications (account_id, type, id)
    WHERE group_key IS NULL AND type NOT IN ('mention', 'status', 'list_status', 'status_reference', 'follow_request',
        'poll', 'update', 'severed_relationships', 'moderation_warning', 'move', 'admin.sign_up', 'admin.report');
