-- Who may interact with a status, the states of quotes, and requests to interact.

-- For each kind of interaction 12 bits: who may without and with approval, and whether the author states it; see
-- `model::interaction`. It replaces quote_policy.
ALTER TABLE statuses ADD COLUMN interaction_policy BIGINT NOT NULL DEFAULT 0;
UPDATE statuses SET interaction_policy = CASE quote_policy WHEN 'followers' THEN 1026 ELSE 1024 END
    WHERE quote_policy <> 'public';
ALTER TABLE statuses DROP COLUMN quote_policy;
-- pending, accepted, rejected, revoked or deleted; NULL: it quotes nothing.
ALTER TABLE statuses ADD COLUMN quote_state TEXT;
UPDATE statuses SET quote_state = 'accepted' WHERE quote_id IS NOT NULL;

ALTER TABLE status_edits ADD COLUMN quote_id BIGINT; -- the status that the revision quoted, which may be gone

-- Of a reply or reblog that only its author sees: pending, rejected or removed; NULL: it needs no approval, or has it.
ALTER TABLE statuses ADD COLUMN approval TEXT;
-- The author of its first status, who lets nobody else reply any more; NULL: it is open.
ALTER TABLE conversations ADD COLUMN closed_by_id BIGINT;

-- An interaction that the author of a status decided about, or is to decide about, by the policy or in person.
CREATE TABLE interaction_requests (
    id BIGINT PRIMARY KEY,
    kind TEXT NOT NULL, -- quote, reply, favourite or reblog
    target_id BIGINT NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    author_id BIGINT NOT NULL, -- of the target, with which the row goes
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- the one that interacts
    uri TEXT NOT NULL, -- of the quoting or replying status, of the Like or of the Announce
    request_uri TEXT, -- of the activity of another server that requests it
    authorization_uri TEXT, -- of the authorization by an author of another server
    state TEXT NOT NULL, -- pending, accepted, rejected or revoked
    created_at TIMESTAMPTZ NOT NULL,
    decided_at TIMESTAMPTZ
);
CREATE UNIQUE INDEX interaction_requests_uri ON interaction_requests (uri, kind);
CREATE INDEX interaction_requests_target ON interaction_requests (target_id, id);
CREATE INDEX interaction_requests_author ON interaction_requests (author_id, state, id);
CREATE INDEX interaction_requests_account ON interaction_requests (account_id, id);
CREATE UNIQUE INDEX interaction_requests_authorization ON interaction_requests (authorization_uri)
    WHERE authorization_uri IS NOT NULL;

-- The new types are core types, which are shown one by one.
DROP INDEX notifications_of_plugins;
CREATE INDEX notifications_of_plugins ON notifications (type, id)
    WHERE type NOT IN ('mention', 'status', 'list_status', 'reblog', 'status_reference', 'quote', 'pending.quote', 'pending.reply',
        'pending.favourite', 'pending.reblog', 'follow', 'follow_request', 'favourite', 'poll', 'update', 'quoted_update',
        'severed_relationships', 'moderation_warning', 'move', 'admin.sign_up', 'admin.report');
DROP INDEX notifications_single;
CREATE INDEX notifications_single ON notifications (account_id, type, id)
    WHERE group_key IS NULL AND type NOT IN ('mention', 'status', 'list_status', 'status_reference', 'quote',
        'pending.quote', 'pending.reply', 'pending.favourite', 'pending.reblog', 'follow_request', 'poll', 'update',
        'quoted_update', 'severed_relationships', 'moderation_warning', 'move', 'admin.sign_up', 'admin.report');
