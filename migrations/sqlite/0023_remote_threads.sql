-- Threads and accounts of other servers that are not wholly here yet.

-- The parts of the thread of a remote status that its server names.
CREATE TABLE remote_threads (
    status_id INTEGER PRIMARY KEY REFERENCES statuses (id) ON DELETE CASCADE,
    parent_uri TEXT, -- the status that it answers, which is not here; NULL: it is, or there is none
    replies_url TEXT, -- the collection of replies
    replies_fetched_at INTEGER -- NULL: never
) STRICT;
CREATE INDEX remote_threads_parent ON remote_threads (parent_uri) WHERE parent_uri IS NOT NULL;

-- When the statuses of a remote account were fetched last.
CREATE TABLE remote_fills (
    account_id INTEGER PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    filled_at INTEGER NOT NULL
) STRICT;
