-- The policy about other servers: the remaining flags of domain blocks, and the domains that limited federation admits.

ALTER TABLE domain_blocks ADD COLUMN reject_favourite INTEGER NOT NULL DEFAULT 0; -- likes and reactions
ALTER TABLE domain_blocks ADD COLUMN reject_reply_exclude_followers INTEGER NOT NULL DEFAULT 0; -- replies to accounts that do not follow the sender
ALTER TABLE domain_blocks ADD COLUMN reject_hashtag INTEGER NOT NULL DEFAULT 0;
ALTER TABLE domain_blocks ADD COLUMN reject_straight_follow INTEGER NOT NULL DEFAULT 0; -- follows need approval
ALTER TABLE domain_blocks ADD COLUMN reject_new_follow INTEGER NOT NULL DEFAULT 0;
ALTER TABLE domain_blocks ADD COLUMN reject_friend INTEGER NOT NULL DEFAULT 0; -- no friend relation
ALTER TABLE domain_blocks ADD COLUMN reject_send_sensitive INTEGER NOT NULL DEFAULT 0; -- sensitive statuses are not sent there
ALTER TABLE domain_blocks ADD COLUMN block_trends INTEGER NOT NULL DEFAULT 0;
ALTER TABLE domain_blocks ADD COLUMN detect_invalid_subscription INTEGER NOT NULL DEFAULT 0; -- treated as Misskey for unlisted statuses

-- A domain that limited federation admits, without its subdomains.
CREATE TABLE domain_allows (
    id INTEGER PRIMARY KEY,
    domain TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX domain_allows_domain ON domain_allows (domain);
