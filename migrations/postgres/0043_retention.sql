-- Retention: local statuses in a thread, and threads without statuses, are found by an index.

-- For the removal of a thread: each status of it.
CREATE INDEX statuses_thread ON statuses (conversation_id) WHERE conversation_id IS NOT NULL;
CREATE INDEX account_conversations_thread ON account_conversations (conversation_id);
-- After the index of all statuses: of two that fit, SQLite takes the later one.
DROP INDEX statuses_conversation;
CREATE INDEX statuses_conversation ON statuses (conversation_id, id)
    WHERE visibility IN ('public', 'unlisted', 'public_unlisted') AND reblog_of_id IS NULL;
CREATE INDEX statuses_local_thread ON statuses (conversation_id)
    WHERE local AND reblog_of_id IS NULL AND conversation_id IS NOT NULL;
CREATE INDEX statuses_local_replies ON statuses (in_reply_to_id) WHERE local AND in_reply_to_id IS NOT NULL;
CREATE INDEX statuses_local_reblogs ON statuses (reblog_of_id) WHERE local AND reblog_of_id IS NOT NULL;
