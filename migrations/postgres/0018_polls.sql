-- Polls, at most one on a status. status_edits.poll_options: the options of the revision as a JSON list; none without a poll.
ALTER TABLE statuses ADD COLUMN has_poll BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE status_edits ADD COLUMN poll_options JSONB;

-- expires_at: none of a remote poll that has no end. voters_count: none of a remote poll whose server does not say.
CREATE TABLE polls (
    id BIGINT PRIMARY KEY,
    status_id BIGINT NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    multiple BOOLEAN NOT NULL,
    hide_totals BOOLEAN NOT NULL,
    expires_at TIMESTAMPTZ,
    voters_count BIGINT,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX polls_status ON polls (status_id);

CREATE TABLE poll_options (
    poll_id BIGINT NOT NULL REFERENCES polls (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    title TEXT NOT NULL,
    votes_count BIGINT NOT NULL,
    PRIMARY KEY (poll_id, position)
);

-- choice: the position of an option.
CREATE TABLE poll_votes (
    poll_id BIGINT NOT NULL REFERENCES polls (id) ON DELETE CASCADE,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    choice BIGINT NOT NULL,
    PRIMARY KEY (poll_id, account_id, choice)
);
CREATE INDEX poll_votes_account ON poll_votes (account_id, poll_id);
