-- What reports and strikes name stays for the staff when it is deleted, and the files of its media.

CREATE TABLE held_statuses (
    id BIGINT PRIMARY KEY, -- of the deleted status
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    uri TEXT NOT NULL,
    url TEXT,
    text TEXT NOT NULL,
    content TEXT NOT NULL,
    spoiler_text TEXT NOT NULL,
    sensitive BOOLEAN NOT NULL,
    visibility TEXT NOT NULL,
    language TEXT,
    media JSONB NOT NULL, -- as rendered for clients
    created_at TIMESTAMPTZ NOT NULL,
    edited_at TIMESTAMPTZ,
    deleted_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX held_statuses_account ON held_statuses (account_id);

CREATE TABLE held_files (
    file TEXT NOT NULL,
    status_id BIGINT NOT NULL REFERENCES held_statuses (id) ON DELETE CASCADE,
    media_id BIGINT NOT NULL,
    PRIMARY KEY (file, status_id)
);
CREATE INDEX held_files_status ON held_files (status_id);
