-- Moderation: reports, blocked domains and other servers.

-- A report of target_account_id by account_id.
CREATE TABLE reports (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    category TEXT NOT NULL, -- spam, legal, violation or other
    comment TEXT NOT NULL,
    status_ids TEXT, -- list; NULL: none named
    rule_ids TEXT, -- list; NULL: none named
    forwarded INTEGER NOT NULL, -- to the server of the reported account
    forward_to_domains TEXT NOT NULL, -- further recipients, among the servers that the statuses reply to
    action_taken_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX reports_account ON reports (account_id);
CREATE INDEX reports_target ON reports (target_account_id);
CREATE INDEX reports_unresolved ON reports (id) WHERE action_taken_at IS NULL;

-- A decision of the moderators about a domain and its subdomains.
CREATE TABLE domain_blocks (
    id INTEGER PRIMARY KEY,
    domain TEXT NOT NULL,
    severity TEXT NOT NULL, -- noop, silence or suspend
    reject_media INTEGER NOT NULL,
    reject_reports INTEGER NOT NULL,
    obfuscate INTEGER NOT NULL, -- the middle of the domain is hidden in the published list
    hidden INTEGER NOT NULL, -- not in the published list
    private_comment TEXT, -- for the moderators
    public_comment TEXT,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX domain_blocks_domain ON domain_blocks (domain);

-- A server that this one has met.
CREATE TABLE instances (
    domain TEXT PRIMARY KEY,
    software TEXT,
    features TEXT NOT NULL,
    fetched_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT;
