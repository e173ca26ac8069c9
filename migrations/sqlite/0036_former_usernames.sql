-- User names that local accounts had before: reserved, and still found.

CREATE TABLE former_usernames (
    username TEXT PRIMARY KEY, -- in lower case
    account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
    replaced_at INTEGER NOT NULL
) STRICT;
CREATE INDEX former_usernames_account ON former_usernames (account_id);
