-- Polls, their options and votes.

-- The poll of a status, at most one.
CREATE TABLE polls (
    id INTEGER PRIMARY KEY,
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    multiple INTEGER NOT NULL, -- several options may be chosen
    hide_totals INTEGER NOT NULL, -- the votes of each option are shown after the end only
    voters_count INTEGER, -- NULL: a remote poll whose server does not state it
    expires_at INTEGER, -- NULL: a remote poll without an end
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX polls_status ON polls (status_id);

-- An option of a poll.
CREATE TABLE poll_options (
    poll_id INTEGER NOT NULL REFERENCES polls (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    title TEXT NOT NULL,
    votes_count INTEGER NOT NULL,
    PRIMARY KEY (poll_id, position)
) STRICT, WITHOUT ROWID;

-- A vote of an account for an option.
CREATE TABLE poll_votes (
    poll_id INTEGER NOT NULL REFERENCES polls (id) ON DELETE CASCADE,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    choice INTEGER NOT NULL, -- the position of the option
    place INTEGER NOT NULL DEFAULT 0, -- among the votes of the account in the poll, from 0
    PRIMARY KEY (poll_id, account_id, choice)
) STRICT, WITHOUT ROWID;
CREATE INDEX poll_votes_account ON poll_votes (account_id, poll_id);
