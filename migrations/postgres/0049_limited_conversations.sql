-- Who wrote limited statuses in a conversation, for notifications of audiences. Other statuses are not looked up by their
-- conversation.
CREATE INDEX statuses_limited_conversation ON statuses (conversation_id, account_id) WHERE visibility = 'limited';
