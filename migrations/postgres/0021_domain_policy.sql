-- The policy about other servers: the remaining flags of domain blocks, and the domains that limited federation admits.

ALTER TABLE domain_blocks ADD COLUMN reject_favourite BOOLEAN NOT NULL DEFAULT FALSE; -- likes and reactions
ALTER TABLE domain_blocks ADD COLUMN reject_reply_exclude_followers BOOLEAN NOT NULL DEFAULT FALSE; -- replies to accounts that do not follow the sender
ALTER TABLE domain_blocks ADD COLUMN reject_hashtag BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE domain_blocks ADD COLUMN reject_straight_follow BOOLEAN NOT NULL DEFAULT FALSE; -- follows need approval
ALTER TABLE domain_blocks ADD COLUMN reject_new_follow BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE domain_blocks ADD COLUMN reject_friend BOOLEAN NOT NULL DEFAULT FALSE; -- no friend relation
ALTER TABLE domain_blocks ADD COLUMN reject_send_sensitive BOOLEAN NOT NULL DEFAULT FALSE; -- sensitive statuses are not sent there
ALTER TABLE domain_blocks ADD COLUMN block_trends BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE domain_blocks ADD COLUMN detect_invalid_subscription BOOLEAN NOT NULL DEFAULT FALSE; -- treated as Misskey for unlisted statuses

-- A domain that limited federation admits, without its subdomains.
CREATE TABLE domain_allows (
    id BIGINT PRIMARY KEY,
    domain TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX domain_allows_domain ON domain_allows (domain);
