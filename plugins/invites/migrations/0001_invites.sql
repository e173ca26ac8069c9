-- max_uses: null for any number. expires_at: milliseconds, null for never. account_id: whoever made it.
CREATE TABLE invites (
    id integer PRIMARY KEY,
    code text NOT NULL,
    account_id integer NOT NULL,
    max_uses integer,
    uses integer NOT NULL,
    expires_at integer,
    autofollow boolean NOT NULL,
    comment text NOT NULL,
    created_at integer NOT NULL
);
CREATE UNIQUE INDEX invites_code ON invites (code);
CREATE INDEX invites_account ON invites (account_id, id);

-- The invitation by which an account was made.
CREATE TABLE arrivals (
    account_id integer PRIMARY KEY,
    invite_id integer NOT NULL REFERENCES invites (id) ON DELETE CASCADE
);
CREATE INDEX arrivals_invite ON arrivals (invite_id);
