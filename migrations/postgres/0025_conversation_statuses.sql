-- The statuses of a thread that everyone may read, for its document.
CREATE INDEX statuses_conversation ON statuses (conversation_id, id)
    WHERE visibility IN ('public', 'unlisted', 'public_unlisted') AND reblog_of_id IS NULL;
