-- Federation: activities received from other servers, and documents owed to them.

-- An activity in an inbox. Its row stays for a while after it was processed, so that a replay is recognised.
CREATE TABLE inbound_activities (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, -- the sender
    mailbox_account_id INTEGER, -- the owner of the inbox; NULL: the inbox of the server
    digest TEXT NOT NULL, -- SHA-256 of the body
    body TEXT, -- JSON; NULL: processed
    set_aside INTEGER NOT NULL, -- it failed once, and does not hold up later ones
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX inbound_activities_digest ON inbound_activities (account_id, digest);
CREATE INDEX inbound_activities_waiting ON inbound_activities (account_id, id) WHERE body IS NOT NULL AND NOT set_aside;
CREATE INDEX inbound_activities_age ON inbound_activities (created_at);

-- An object that was deleted: it does not come back, and its address answers 410 if it was ours.
CREATE TABLE tombstones (
    uri TEXT PRIMARY KEY,
    account_id INTEGER NOT NULL, -- of the one who deleted it; kept when the account is deleted
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX tombstones_age ON tombstones (created_at);

-- A document on its way to inboxes of other servers, serialised once.
CREATE TABLE outbound_documents (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL, -- signs it; -99: the server. Not a foreign key: a deleted account still says so
    private_key TEXT, -- sealed, of an account that is being deleted; NULL: the account's own
    body TEXT NOT NULL, -- JSON
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX outbound_documents_account ON outbound_documents (account_id);
CREATE INDEX outbound_documents_age ON outbound_documents (created_at);

-- A document owed to one inbox.
CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY,
    document_id INTEGER NOT NULL REFERENCES outbound_documents (id) ON DELETE CASCADE,
    host TEXT NOT NULL, -- of the inbox, with its port unless it is the usual one
    inbox TEXT NOT NULL,
    attempts INTEGER NOT NULL, -- that failed
    claimed_until INTEGER, -- a worker is sending it
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX deliveries_host ON deliveries (host, id);
CREATE INDEX deliveries_document ON deliveries (document_id);
CREATE INDEX deliveries_claimed ON deliveries (host, claimed_until) WHERE claimed_until IS NOT NULL;
