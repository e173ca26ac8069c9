-- Whose indexes of plugins are trusted. url: where the index is; public_key: of minisign, what it was signed with when it was
-- used first; signed_at: when the one that was used last was signed, if it says so.
CREATE TABLE plugin_indexes (
    url TEXT PRIMARY KEY,
    public_key TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    signed_at INTEGER
) STRICT;
