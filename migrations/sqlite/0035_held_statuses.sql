-- What reports and strikes name stays for the staff when it is deleted, and the files of its media.

CREATE TABLE held_statuses (
    id INTEGER PRIMARY KEY, -- of the deleted status
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    uri TEXT NOT NULL,
    url TEXT,
    text TEXT NOT NULL,
    content TEXT NOT NULL,
    spoiler_text TEXT NOT NULL,
    sensitive INTEGER NOT NULL,
    visibility TEXT NOT NULL,
    language TEXT,
    media TEXT NOT NULL, -- as rendered for clients
    created_at INTEGER NOT NULL,
    edited_at INTEGER,
    deleted_at INTEGER NOT NULL
) STRICT;
CREATE INDEX held_statuses_account ON held_statuses (account_id);

CREATE TABLE held_files (
    file TEXT NOT NULL,
    status_id INTEGER NOT NULL REFERENCES held_statuses (id) ON DELETE CASCADE,
    media_id INTEGER NOT NULL,
    PRIMARY KEY (file, status_id)
) STRICT;
CREATE INDEX held_files_status ON held_files (status_id);
