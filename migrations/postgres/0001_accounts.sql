-- Accounts of this server and of others, and the names by which a search finds them.

-- An account. A local one has no domain, and has a row in users until it is removed.
CREATE TABLE accounts (
    id BIGINT PRIMARY KEY,
    moved_to_account_id BIGINT REFERENCES accounts (id) ON DELETE SET NULL,
    username TEXT COLLATE "C" NOT NULL,
    domain TEXT COLLATE "C", -- NULL: local
    uri TEXT NOT NULL, -- the id of the actor (ActivityPub)
    url TEXT, -- the page of the profile
    actor_type TEXT NOT NULL, -- Person, Service, Group, Application or Organization
    display_name TEXT NOT NULL,
    note TEXT NOT NULL, -- as written; empty for a remote account
    note_html TEXT NOT NULL, -- rendered from note when it is written, or sanitised when it is received
    fields JSONB NOT NULL, -- list of objects: name, value, html, verified_at
    avatar TEXT, -- storage key; NULL: the default picture
    avatar_static TEXT, -- storage key of the still picture
    avatar_remote_url TEXT,
    avatar_description TEXT NOT NULL DEFAULT '', -- alternative text
    header TEXT, -- storage key, as of the avatar
    header_static TEXT,
    header_remote_url TEXT,
    header_description TEXT NOT NULL DEFAULT '',
    also_known_as JSONB NOT NULL, -- list of URIs of other accounts of the same person
    -- List of sites, subdomains included, that may name the account as an author.
    attribution_domains JSONB NOT NULL DEFAULT '[]',
    locked BOOLEAN NOT NULL, -- follows need approval
    discoverable BOOLEAN, -- listed in the directory; NULL: not chosen
    indexable BOOLEAN NOT NULL, -- public statuses may be found by a search
    hide_collections BOOLEAN, -- followers and followed accounts are not listed
    searchability TEXT NOT NULL, -- of statuses that state none: public, public_unlisted, private, limited or direct
    show_media BOOLEAN NOT NULL DEFAULT TRUE, -- the profile has a tab with media
    show_media_replies BOOLEAN NOT NULL DEFAULT TRUE, -- that tab has the media of replies too
    show_featured BOOLEAN NOT NULL DEFAULT TRUE, -- the profile has a tab with featured accounts and hashtags
    other_settings JSONB NOT NULL, -- further published settings
    memorial BOOLEAN NOT NULL,
    suspended_at TIMESTAMPTZ,
    limited_at TIMESTAMPTZ,
    trendable BOOLEAN, -- the decision of a review about all statuses of the account; NULL: no review
    reviewed_at TIMESTAMPTZ,
    requested_review_at TIMESTAMPTZ,
    inbox_url TEXT,
    outbox_url TEXT,
    shared_inbox_url TEXT,
    followers_url TEXT,
    following_url TEXT,
    featured_url TEXT,
    public_key TEXT,
    private_key TEXT, -- of a local account, sealed
    followers_count BIGINT NOT NULL,
    following_count BIGINT NOT NULL,
    statuses_count BIGINT NOT NULL,
    last_status_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    fetched_at TIMESTAMPTZ, -- of a remote account: the last fetch of its actor
    version BIGINT NOT NULL, -- grows with every change that clients can see; part of the key of cached renderings
    -- Grows with every change of the account's follows, blocks and mutes and of blocks of the account: the key of these
    -- relations in a server's memory.
    relations_version BIGINT NOT NULL DEFAULT 0,
    -- The absolute value grows with every change of the account's filters: the key of the filters in a server's memory.
    -- Not above 0 while there are none.
    filters_version BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX accounts_username ON accounts (lower(username), coalesce(lower(domain), ''));
CREATE UNIQUE INDEX accounts_uri ON accounts (uri);
CREATE INDEX accounts_domain ON accounts (domain, id) WHERE domain IS NOT NULL;
-- For the removal of the account that others moved to.
CREATE INDEX accounts_moved_to ON accounts (moved_to_account_id) WHERE moved_to_account_id IS NOT NULL;
-- The directory of profiles, in both of its orders, of all servers and of this one.
CREATE INDEX accounts_directory_active ON accounts (last_status_at DESC NULLS LAST, id DESC) WHERE discoverable;
CREATE INDEX accounts_directory_active_local ON accounts (last_status_at DESC NULLS LAST, id DESC)
    WHERE discoverable AND domain IS NULL;
CREATE INDEX accounts_directory_new ON accounts (id) WHERE discoverable;
CREATE INDEX accounts_directory_new_local ON accounts (id) WHERE discoverable AND domain IS NULL;

-- Names by which a search finds accounts: the user name, and the display name from each of its words on, in lower case.
CREATE TABLE account_names (
    rank BIGINT NOT NULL, -- digits of the number of followers, at most 6: accounts with most followers are found first
    name TEXT COLLATE "C" NOT NULL,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (rank, name, account_id)
);
CREATE INDEX account_names_account ON account_names (account_id, name);
