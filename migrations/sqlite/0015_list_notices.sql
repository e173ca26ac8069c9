-- What a notification of the type list_status is about, by its activity: the list that a status entered. One for an account and
-- a status, whichever of the account's lists was first.
CREATE TABLE list_notices (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    list_id INTEGER NOT NULL REFERENCES lists (id) ON DELETE CASCADE
) STRICT;
CREATE UNIQUE INDEX list_notices_status ON list_notices (status_id, account_id);
CREATE INDEX list_notices_account ON list_notices (account_id);
CREATE INDEX list_notices_list ON list_notices (list_id);
