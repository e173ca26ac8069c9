-- A suspension by the account's own server, which that server can lift; one by staff of this server replaces it.

ALTER TABLE accounts ADD COLUMN suspended_by_origin INTEGER NOT NULL DEFAULT 0;
