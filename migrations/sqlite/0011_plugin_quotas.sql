-- Notifications of types that plugins declare: counted for their quotas, and deleted when a plugin is purged.
CREATE INDEX notifications_of_plugins ON notifications (type, id)
    WHERE type NOT IN ('mention', 'status', 'list_status', 'reblog', 'status_reference', 'follow', 'follow_request', 'favourite', 'poll', 'update', 'severed_relationships', 'moderation_warning', 'admin.sign_up', 'admin.report');
-- Dead letters of one kind, oldest first.
CREATE INDEX jobs_dead_kind ON jobs (kind, id) WHERE state = 'dead';
