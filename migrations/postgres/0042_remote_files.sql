-- Copies of files of other servers, and the hosts whose files are served in their own way.

CREATE TABLE remote_files (
    kind TEXT NOT NULL, -- avatar, header, attachment, thumbnail or emoji
    subject_id BIGINT NOT NULL, -- the account, attachment or emoji that names it; it may be gone
    url TEXT NOT NULL,
    host TEXT NOT NULL, -- of the URL, with its port unless it is the usual one
    file TEXT, -- storage key; NULL: the last attempt failed
    small_file TEXT, -- storage key of a still or smaller version
    bytes BIGINT NOT NULL, -- of both files
    failures BIGINT NOT NULL, -- attempts that failed since the last success
    due_at TIMESTAMPTZ NOT NULL, -- without a file: no attempt before
    fetched_at TIMESTAMPTZ NOT NULL, -- the last attempt
    used_at TIMESTAMPTZ NOT NULL, -- the last use, to an hour
    PRIMARY KEY (kind, subject_id)
);
CREATE INDEX remote_files_used ON remote_files (used_at, kind, subject_id);
CREATE INDEX remote_files_host ON remote_files (host, used_at);

CREATE TABLE remote_media_modes (
    domain TEXT PRIMARY KEY, -- with its subdomains
    mode TEXT NOT NULL, -- cache, pass or keep
    created_at TIMESTAMPTZ NOT NULL
);
