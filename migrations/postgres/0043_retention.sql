-- Retention: what people of this server did in a thread, and threads without statuses, are found by an index.

CREATE INDEX statuses_local_thread ON statuses (conversation_id) WHERE local AND conversation_id IS NOT NULL;
CREATE INDEX statuses_local_replies ON statuses (in_reply_to_id) WHERE local AND in_reply_to_id IS NOT NULL;
CREATE INDEX statuses_local_reblogs ON statuses (reblog_of_id) WHERE local AND reblog_of_id IS NOT NULL;
-- For the removal of a thread: each status of it.
CREATE INDEX statuses_thread ON statuses (conversation_id) WHERE conversation_id IS NOT NULL;
CREATE INDEX account_conversations_thread ON account_conversations (conversation_id);
