-- Conversations as their participants see them: one for each account, thread and set of other participants of direct statuses.
-- participants: the ids of the others in order, separated by commas; empty when there is nobody else. last_status_id: the newest
-- of account_conversation_statuses; without a foreign key, since a deletion locks the status before the conversations.
CREATE TABLE account_conversations (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    participants TEXT NOT NULL,
    last_status_id INTEGER NOT NULL,
    unread INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX account_conversations_participants ON account_conversations (account_id, conversation_id, participants);
CREATE INDEX account_conversations_last_status ON account_conversations (account_id, last_status_id);

-- The statuses of each, so that the one before is known when the last is deleted.
CREATE TABLE account_conversation_statuses (
    account_conversation_id INTEGER NOT NULL REFERENCES account_conversations (id) ON DELETE CASCADE,
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    PRIMARY KEY (account_conversation_id, status_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX account_conversation_statuses_status ON account_conversation_statuses (status_id);

-- Direct statuses of before: a job sorts them into conversations, once.
INSERT INTO jobs (id, lane, kind, key, payload, state, attempts, run_at, created_at)
SELECT -22, 'background', 'fill_conversations', '', '{"after":"0","until":"' || last.id || '"}', 'ready', 0, 0, 0
FROM (SELECT MAX(s.id) AS id FROM statuses s) last WHERE last.id IS NOT NULL;
