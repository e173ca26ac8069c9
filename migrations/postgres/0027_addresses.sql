-- Addresses in moderation: blocked networks and e-mail addresses, and the addresses that accounts used.

-- A network whose clients are refused, or cannot sign up freely.
CREATE TABLE ip_blocks (
    id BIGINT PRIMARY KEY,
    ip TEXT NOT NULL, -- a network in CIDR notation, without host bits; never an IPv4-mapped IPv6 network
    severity TEXT NOT NULL, -- sign_up_requires_approval, sign_up_block or no_access
    comment TEXT NOT NULL, -- for the moderators
    expires_at TIMESTAMPTZ, -- NULL: never
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX ip_blocks_ip ON ip_blocks (ip);
CREATE INDEX ip_blocks_expiry ON ip_blocks (expires_at) WHERE expires_at IS NOT NULL;

-- A domain, with its subdomains, whose e-mail addresses cannot be used to sign up.
CREATE TABLE email_domain_blocks (
    id BIGINT PRIMARY KEY,
    domain TEXT NOT NULL,
    allow_with_approval BOOLEAN NOT NULL, -- a moderator decides about each sign-up instead
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX email_domain_blocks_domain ON email_domain_blocks (domain);

-- Sign-ups with an address of a blocked domain: how often each address was tried on a day.
CREATE TABLE email_domain_attempts (
    email_domain_block_id BIGINT NOT NULL REFERENCES email_domain_blocks (id) ON DELETE CASCADE,
    day BIGINT NOT NULL, -- UTC, counted from the epoch
    email_hash TEXT NOT NULL, -- as in canonical_email_blocks
    uses BIGINT NOT NULL,
    PRIMARY KEY (email_domain_block_id, day, email_hash)
);
CREATE INDEX email_domain_attempts_day ON email_domain_attempts (day);

-- A blocked e-mail address, in all its spellings.
CREATE TABLE canonical_email_blocks (
    id BIGINT PRIMARY KEY,
    canonical_email_hash TEXT NOT NULL, -- SHA-256 in hexadecimal (docs/contract/admin.csv)
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX canonical_email_blocks_hash ON canonical_email_blocks (canonical_email_hash);

-- An address that an account used, with the day of its last use.
CREATE TABLE user_ips (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    ip TEXT NOT NULL, -- 4 or 6, and the address in hexadecimal: a network is a range
    used_at TIMESTAMPTZ NOT NULL, -- updated once a day at most
    PRIMARY KEY (account_id, ip)
);
CREATE INDEX user_ips_ip ON user_ips (ip, account_id);
CREATE INDEX user_ips_used ON user_ips (used_at);
