-- Conversations as their participants see them.

-- The direct statuses of a thread with one set of other participants, as one account sees them.
CREATE TABLE account_conversations (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    conversation_id BIGINT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- The newest of account_conversation_statuses; without a foreign key, since a deletion locks the status before the
    -- conversations.
    last_status_id BIGINT NOT NULL,
    participants TEXT NOT NULL, -- ids of the others in order, separated by commas; empty without others
    unread BOOLEAN NOT NULL
);
CREATE UNIQUE INDEX account_conversations_participants
    ON account_conversations (account_id, conversation_id, participants);
CREATE INDEX account_conversations_last_status ON account_conversations (account_id, last_status_id);

-- The statuses of each: the one before is known when the last is deleted.
CREATE TABLE account_conversation_statuses (
    account_conversation_id BIGINT NOT NULL REFERENCES account_conversations (id) ON DELETE CASCADE,
    status_id BIGINT NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    PRIMARY KEY (account_conversation_id, status_id)
);
CREATE INDEX account_conversation_statuses_status ON account_conversation_statuses (status_id);

-- A thread that an account gets no notifications of.
CREATE TABLE conversation_mutes (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    conversation_id BIGINT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    PRIMARY KEY (account_id, conversation_id)
);
CREATE INDEX conversation_mutes_conversation ON conversation_mutes (conversation_id);
