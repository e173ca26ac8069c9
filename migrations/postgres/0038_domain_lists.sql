-- Subscribed lists of domains: their entries and drafts, the blocks that they made, and the domains that no list may block.

CREATE TABLE domain_lists (
    id BIGINT PRIMARY KEY,
    url TEXT NOT NULL,
    format TEXT, -- csv, plain or json; detected without one
    priority BIGINT NOT NULL, -- the list with the highest decides about a domain
    mode TEXT NOT NULL, -- draft or apply
    severity TEXT, -- of all its entries, whatever the list has for them
    etag TEXT,
    due_at TIMESTAMPTZ NOT NULL,
    fetched_at TIMESTAMPTZ, -- the last success
    failures BIGINT NOT NULL, -- since then
    error TEXT, -- the last failure, if it was later
    faults BIGINT NOT NULL, -- how many lines were not taken
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX domain_lists_url ON domain_lists (url);

CREATE TABLE domain_list_entries (
    list_id BIGINT NOT NULL REFERENCES domain_lists (id) ON DELETE CASCADE,
    domain TEXT NOT NULL,
    block TEXT NOT NULL, -- its parameters, as JSON
    PRIMARY KEY (list_id, domain)
);

CREATE TABLE domain_list_drafts (
    list_id BIGINT NOT NULL REFERENCES domain_lists (id) ON DELETE CASCADE,
    domain TEXT NOT NULL,
    change TEXT NOT NULL, -- add, update or remove
    block TEXT, -- as an entry; of a removal, none
    dismissed BOOLEAN NOT NULL,
    PRIMARY KEY (list_id, domain)
);

CREATE TABLE domain_list_blocks (
    domain TEXT PRIMARY KEY REFERENCES domain_blocks (domain) ON DELETE CASCADE,
    list_id BIGINT NOT NULL REFERENCES domain_lists (id) ON DELETE CASCADE
);
CREATE INDEX domain_list_blocks_list ON domain_list_blocks (list_id);

CREATE TABLE domain_exclusions (
    domain TEXT PRIMARY KEY,
    created_at TIMESTAMPTZ NOT NULL
);
