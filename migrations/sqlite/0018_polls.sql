-- Polls, at most one on a status. status_edits.poll_options: the options of the revision as a JSON list; none without a poll.
ALTER TABLE statuses ADD COLUMN has_poll INTEGER NOT NULL DEFAULT FALSE;
ALTER TABLE status_edits ADD COLUMN poll_options TEXT;

-- expires_at: none of a remote poll that has no end. voters_count: none of a remote poll whose server does not say.
CREATE TABLE polls (
    id INTEGER PRIMARY KEY,
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    multiple INTEGER NOT NULL,
    hide_totals INTEGER NOT NULL,
    expires_at INTEGER,
    voters_count INTEGER,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX polls_status ON polls (status_id);

CREATE TABLE poll_options (
    poll_id INTEGER NOT NULL REFERENCES polls (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    title TEXT NOT NULL,
    votes_count INTEGER NOT NULL,
    PRIMARY KEY (poll_id, position)
) STRICT, WITHOUT ROWID;

-- choice: the position of an option.
CREATE TABLE poll_votes (
    poll_id INTEGER NOT NULL REFERENCES polls (id) ON DELETE CASCADE,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    choice INTEGER NOT NULL,
    PRIMARY KEY (poll_id, account_id, choice)
) STRICT, WITHOUT ROWID;
CREATE INDEX poll_votes_account ON poll_votes (account_id, poll_id);
