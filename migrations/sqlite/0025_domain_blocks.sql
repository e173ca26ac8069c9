-- Pages of somebody's domain blocks.
CREATE INDEX account_domain_blocks_account ON account_domain_blocks (account_id, id);

-- Relationships that somebody lost at one stroke, of which a notification tells them. type: domain_block, user_domain_block or
-- account_suspension. target_name: the domain or account that is gone. purged: which accounts they were is not known any more.
CREATE TABLE account_severances (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    type TEXT NOT NULL,
    target_name TEXT NOT NULL,
    purged INTEGER NOT NULL,
    followers_count INTEGER NOT NULL,
    following_count INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX account_severances_account ON account_severances (account_id);
