-- Polls, their options and votes.

-- The poll of a status, at most one.
CREATE TABLE polls (
    id BIGINT PRIMARY KEY,
    status_id BIGINT NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    multiple BOOLEAN NOT NULL, -- several options may be chosen
    hide_totals BOOLEAN NOT NULL, -- the votes of each option are shown after the end only
    voters_count BIGINT, -- NULL: a remote poll whose server does not state it
    expires_at TIMESTAMPTZ, -- NULL: a remote poll without an end
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX polls_status ON polls (status_id);

-- An option of a poll.
CREATE TABLE poll_options (
    poll_id BIGINT NOT NULL REFERENCES polls (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    title TEXT NOT NULL,
    votes_count BIGINT NOT NULL,
    PRIMARY KEY (poll_id, position)
);

-- A vote of an account for an option.
CREATE TABLE poll_votes (
    poll_id BIGINT NOT NULL REFERENCES polls (id) ON DELETE CASCADE,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    choice BIGINT NOT NULL, -- the position of the option
    place BIGINT NOT NULL DEFAULT 0, -- among the votes of the account in the poll, from 0
    PRIMARY KEY (poll_id, account_id, choice)
);
CREATE INDEX poll_votes_account ON poll_votes (account_id, poll_id);
