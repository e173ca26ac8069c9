-- Subscribed lists of domains: their entries and drafts, the blocks that they made, and the domains that no list may block.

CREATE TABLE domain_lists (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    format TEXT, -- csv, plain or json; detected without one
    priority INTEGER NOT NULL, -- the list with the highest decides about a domain
    mode TEXT NOT NULL, -- draft or apply
    severity TEXT, -- of all its entries, whatever the list has for them
    etag TEXT,
    due_at INTEGER NOT NULL,
    fetched_at INTEGER, -- the last success
    failures INTEGER NOT NULL, -- since then
    error TEXT, -- the last failure, if it was later
    faults INTEGER NOT NULL, -- how many lines were not taken
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX domain_lists_url ON domain_lists (url);

CREATE TABLE domain_list_entries (
    list_id INTEGER NOT NULL REFERENCES domain_lists (id) ON DELETE CASCADE,
    domain TEXT NOT NULL,
    block TEXT NOT NULL, -- its parameters, as JSON
    PRIMARY KEY (list_id, domain)
) STRICT, WITHOUT ROWID;

CREATE TABLE domain_list_drafts (
    list_id INTEGER NOT NULL REFERENCES domain_lists (id) ON DELETE CASCADE,
    domain TEXT NOT NULL,
    change TEXT NOT NULL, -- add, update or remove
    block TEXT, -- as an entry; of a removal, none
    dismissed INTEGER NOT NULL,
    PRIMARY KEY (list_id, domain)
) STRICT, WITHOUT ROWID;

CREATE TABLE domain_list_blocks (
    domain TEXT PRIMARY KEY REFERENCES domain_blocks (domain) ON DELETE CASCADE,
    list_id INTEGER NOT NULL REFERENCES domain_lists (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX domain_list_blocks_list ON domain_list_blocks (list_id);

CREATE TABLE domain_exclusions (
    domain TEXT PRIMARY KEY,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
