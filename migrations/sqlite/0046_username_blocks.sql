-- User names that cannot be used to sign up, with names that look like them.
CREATE TABLE username_blocks (
    id INTEGER PRIMARY KEY,
    username TEXT NOT NULL, -- as it was written
    skeleton TEXT NOT NULL, -- the form that look-alikes share
    comparison TEXT NOT NULL, -- equals or contains
    allow_with_approval INTEGER NOT NULL, -- a moderator decides about each sign-up instead
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX username_blocks_skeleton ON username_blocks (skeleton);
