-- Accounts, local and remote alike: domain IS NULL is local. search_name: the display name in lower case, as it is found by.
CREATE TABLE accounts (
    id BIGINT PRIMARY KEY,
    username TEXT COLLATE "C" NOT NULL,
    domain TEXT COLLATE "C",
    uri TEXT NOT NULL,
    url TEXT,
    actor_type TEXT NOT NULL,
    display_name TEXT NOT NULL,
    search_name TEXT COLLATE "C" NOT NULL DEFAULT '',
    note TEXT NOT NULL,
    note_html TEXT NOT NULL,
    fields JSONB NOT NULL,
    avatar TEXT,
    avatar_static TEXT,
    avatar_remote_url TEXT,
    header TEXT,
    header_static TEXT,
    header_remote_url TEXT,
    locked BOOLEAN NOT NULL,
    discoverable BOOLEAN,
    indexable BOOLEAN NOT NULL,
    hide_collections BOOLEAN,
    searchability TEXT NOT NULL,
    memorial BOOLEAN NOT NULL,
    suspended_at TIMESTAMPTZ,
    limited_at TIMESTAMPTZ,
    moved_to_account_id BIGINT REFERENCES accounts (id) ON DELETE SET NULL,
    also_known_as JSONB NOT NULL,
    other_settings JSONB NOT NULL,
    inbox_url TEXT,
    outbox_url TEXT,
    shared_inbox_url TEXT,
    followers_url TEXT,
    following_url TEXT,
    featured_url TEXT,
    public_key TEXT,
    private_key TEXT,
    followers_count BIGINT NOT NULL,
    following_count BIGINT NOT NULL,
    statuses_count BIGINT NOT NULL,
    last_status_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    fetched_at TIMESTAMPTZ,
    version BIGINT NOT NULL
);
CREATE UNIQUE INDEX accounts_username ON accounts (lower(username), coalesce(lower(domain), ''));
CREATE INDEX accounts_search_name ON accounts (search_name);
CREATE UNIQUE INDEX accounts_uri ON accounts (uri);
CREATE INDEX accounts_domain ON accounts (domain, id) WHERE domain IS NOT NULL;

-- Permission bits: contract rules, section 2.
CREATE TABLE roles (
    id BIGINT PRIMARY KEY,
    name TEXT NOT NULL,
    color TEXT NOT NULL,
    position BIGINT NOT NULL,
    permissions BIGINT NOT NULL,
    highlighted BOOLEAN NOT NULL
);
CREATE UNIQUE INDEX roles_name ON roles (name);

-- What a local account has beyond its public face: how its person signs in, and what they prefer.
CREATE TABLE users (
    account_id BIGINT PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    email TEXT NOT NULL,
    unconfirmed_email TEXT,
    password_hash TEXT,
    confirmed_at TIMESTAMPTZ,
    approved BOOLEAN NOT NULL,
    disabled BOOLEAN NOT NULL,
    role_id BIGINT REFERENCES roles (id) ON DELETE SET NULL,
    locale TEXT,
    time_zone TEXT,
    sign_up_app_id BIGINT,
    sign_up_reason TEXT,
    preferences JSONB NOT NULL,
    last_active_at TIMESTAMPTZ,
    feed_state TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX users_email ON users (lower(email));
CREATE INDEX users_role ON users (role_id) WHERE role_id IS NOT NULL;

-- One row for a person and a week in which they used the server: usage figures without a log of what they did.
CREATE TABLE user_activity (
    week BIGINT NOT NULL,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (week, account_id)
);
CREATE INDEX user_activity_account ON user_activity (account_id);

CREATE TABLE oauth_apps (
    id BIGINT PRIMARY KEY,
    name TEXT NOT NULL,
    website TEXT,
    redirect_uris TEXT NOT NULL,
    scopes TEXT NOT NULL,
    client_id TEXT NOT NULL,
    client_secret_hash TEXT NOT NULL,
    superapp BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX oauth_apps_client_id ON oauth_apps (client_id);

-- Authorization codes (RFC 6749 section 4.1), stored hashed, redeemed once.
CREATE TABLE oauth_grants (
    id BIGINT PRIMARY KEY,
    code_hash TEXT NOT NULL,
    app_id BIGINT NOT NULL REFERENCES oauth_apps (id) ON DELETE CASCADE,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    redirect_uri TEXT NOT NULL,
    scopes TEXT NOT NULL,
    code_challenge TEXT,
    expires_at TIMESTAMPTZ NOT NULL,
    redeemed_at TIMESTAMPTZ,
    token_id BIGINT,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX oauth_grants_code ON oauth_grants (code_hash);
CREATE INDEX oauth_grants_expiry ON oauth_grants (expires_at);
CREATE INDEX oauth_grants_app ON oauth_grants (app_id);
CREATE INDEX oauth_grants_account ON oauth_grants (account_id);

-- Access tokens. The token itself is derived from the server's secret and the nonce, so that it can be shown
-- again to the application it belongs to, and is nowhere stored.
CREATE TABLE oauth_tokens (
    id BIGINT PRIMARY KEY,
    token_hash TEXT NOT NULL,
    nonce TEXT NOT NULL,
    app_id BIGINT REFERENCES oauth_apps (id) ON DELETE CASCADE,
    account_id BIGINT REFERENCES accounts (id) ON DELETE CASCADE,
    scopes TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    last_used_at TIMESTAMPTZ,
    revoked_at TIMESTAMPTZ
);
CREATE UNIQUE INDEX oauth_tokens_hash ON oauth_tokens (token_hash);
CREATE INDEX oauth_tokens_owner ON oauth_tokens (account_id, app_id);
CREATE INDEX oauth_tokens_app ON oauth_tokens (app_id);

-- Browser sessions.
CREATE TABLE web_sessions (
    id BIGINT PRIMARY KEY,
    token_hash TEXT NOT NULL,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX web_sessions_hash ON web_sessions (token_hash);
CREATE INDEX web_sessions_account ON web_sessions (account_id);
CREATE INDEX web_sessions_expiry ON web_sessions (expires_at);

-- Links that work once: confirming an address, resetting a password, creating the owner.
CREATE TABLE one_time_links (
    id BIGINT PRIMARY KEY,
    kind TEXT NOT NULL,
    token_hash TEXT NOT NULL,
    account_id BIGINT REFERENCES accounts (id) ON DELETE CASCADE,
    email TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX one_time_links_hash ON one_time_links (token_hash);
CREATE INDEX one_time_links_account ON one_time_links (account_id);
CREATE INDEX one_time_links_expiry ON one_time_links (expires_at);

CREATE TABLE conversations (
    id BIGINT PRIMARY KEY,
    uri TEXT,
    owner_account_id BIGINT REFERENCES accounts (id) ON DELETE SET NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX conversations_uri ON conversations (uri) WHERE uri IS NOT NULL;
CREATE INDEX conversations_owner ON conversations (owner_account_id) WHERE owner_account_id IS NOT NULL;

-- text: what a local author wrote; content: the HTML made from it once. listed: stands on public timelines.
CREATE TABLE statuses (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    uri TEXT NOT NULL,
    url TEXT,
    local BOOLEAN NOT NULL,
    text TEXT NOT NULL,
    content TEXT NOT NULL,
    spoiler_text TEXT NOT NULL,
    sensitive BOOLEAN NOT NULL,
    visibility TEXT NOT NULL,
    limited_scope TEXT,
    searchability TEXT NOT NULL,
    language TEXT,
    conversation_id BIGINT REFERENCES conversations (id) ON DELETE SET NULL,
    in_reply_to_id BIGINT REFERENCES statuses (id) ON DELETE SET NULL,
    in_reply_to_account_id BIGINT,
    reblog_of_id BIGINT REFERENCES statuses (id) ON DELETE CASCADE,
    app_id BIGINT,
    listed BOOLEAN NOT NULL,
    has_media BOOLEAN NOT NULL,
    replies_count BIGINT NOT NULL,
    reblogs_count BIGINT NOT NULL,
    favourites_count BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    edited_at TIMESTAMPTZ,
    version BIGINT NOT NULL
);
CREATE UNIQUE INDEX statuses_uri ON statuses (uri);
CREATE INDEX statuses_account ON statuses (account_id, id);
CREATE UNIQUE INDEX statuses_reblog ON statuses (account_id, reblog_of_id) WHERE reblog_of_id IS NOT NULL;
CREATE INDEX statuses_reblogs ON statuses (reblog_of_id, id) WHERE reblog_of_id IS NOT NULL;
CREATE INDEX statuses_replies ON statuses (in_reply_to_id, id) WHERE in_reply_to_id IS NOT NULL;
CREATE INDEX statuses_conversation ON statuses (conversation_id, id) WHERE conversation_id IS NOT NULL;
CREATE INDEX statuses_listed ON statuses (id) WHERE listed;
CREATE INDEX statuses_listed_local ON statuses (id) WHERE listed AND local;
CREATE INDEX statuses_local ON statuses (id) WHERE local;
CREATE INDEX statuses_media ON statuses (account_id, id) WHERE has_media;

CREATE TABLE status_edits (
    id BIGINT PRIMARY KEY,
    status_id BIGINT NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    text TEXT NOT NULL,
    content TEXT NOT NULL,
    spoiler_text TEXT NOT NULL,
    sensitive BOOLEAN NOT NULL,
    media JSONB NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX status_edits_status ON status_edits (status_id, id);

-- silent: still reaches the person, is no longer in the text.
CREATE TABLE mentions (
    id BIGINT PRIMARY KEY,
    status_id BIGINT NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    silent BOOLEAN NOT NULL
);
CREATE UNIQUE INDEX mentions_status ON mentions (status_id, account_id);
CREATE INDEX mentions_account ON mentions (account_id, status_id);

CREATE TABLE tags (
    id BIGINT PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    display_name TEXT NOT NULL,
    usable BOOLEAN NOT NULL,
    listable BOOLEAN,
    trendable BOOLEAN,
    last_status_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX tags_name ON tags (name);

CREATE TABLE status_tags (
    tag_id BIGINT NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
    status_id BIGINT NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    PRIMARY KEY (tag_id, status_id)
);
CREATE INDEX status_tags_status ON status_tags (status_id);

CREATE TABLE tag_follows (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    tag_id BIGINT NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX tag_follows_account ON tag_follows (account_id, tag_id);
CREATE INDEX tag_follows_tag ON tag_follows (tag_id, account_id);

CREATE TABLE featured_tags (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    tag_id BIGINT NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
    statuses_count BIGINT NOT NULL,
    last_status_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX featured_tags_account ON featured_tags (account_id, tag_id);
CREATE INDEX featured_tags_tag ON featured_tags (tag_id);

CREATE TABLE media_attachments (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id BIGINT REFERENCES statuses (id) ON DELETE SET NULL,
    position BIGINT NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    mime TEXT NOT NULL,
    file TEXT,
    size_bytes BIGINT NOT NULL,
    preview TEXT,
    remote_url TEXT,
    preview_remote_url TEXT,
    meta JSONB NOT NULL,
    description TEXT,
    blurhash TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX media_attachments_status ON media_attachments (status_id, position) WHERE status_id IS NOT NULL;
CREATE INDEX media_attachments_loose ON media_attachments (created_at) WHERE status_id IS NULL;
CREATE INDEX media_attachments_account ON media_attachments (account_id);

CREATE TABLE favourites (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id BIGINT NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX favourites_account_status ON favourites (account_id, status_id);
CREATE INDEX favourites_account ON favourites (account_id, id);
CREATE INDEX favourites_status ON favourites (status_id, id);

CREATE TABLE bookmarks (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id BIGINT NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX bookmarks_account_status ON bookmarks (account_id, status_id);
CREATE INDEX bookmarks_account ON bookmarks (account_id, id);
CREATE INDEX bookmarks_status ON bookmarks (status_id);

CREATE TABLE status_pins (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id BIGINT NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX status_pins_account ON status_pins (account_id, status_id);
CREATE INDEX status_pins_status ON status_pins (status_id);

CREATE TABLE conversation_mutes (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    conversation_id BIGINT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    PRIMARY KEY (account_id, conversation_id)
);
CREATE INDEX conversation_mutes_conversation ON conversation_mutes (conversation_id);

CREATE TABLE follows (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    show_reblogs BOOLEAN NOT NULL,
    notify BOOLEAN NOT NULL,
    languages JSONB,
    uri TEXT,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX follows_pair ON follows (account_id, target_account_id);
CREATE INDEX follows_account ON follows (account_id, id);
CREATE INDEX follows_target ON follows (target_account_id, id);
CREATE INDEX follows_fanout ON follows (target_account_id, account_id);

CREATE TABLE follow_requests (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    show_reblogs BOOLEAN NOT NULL,
    notify BOOLEAN NOT NULL,
    languages JSONB,
    uri TEXT,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX follow_requests_pair ON follow_requests (account_id, target_account_id);
CREATE INDEX follow_requests_target ON follow_requests (target_account_id, id);

CREATE TABLE blocks (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    uri TEXT,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX blocks_pair ON blocks (account_id, target_account_id);
CREATE INDEX blocks_account ON blocks (account_id, id);
CREATE INDEX blocks_target ON blocks (target_account_id, account_id);

CREATE TABLE mutes (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    hide_notifications BOOLEAN NOT NULL,
    expires_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX mutes_pair ON mutes (account_id, target_account_id);
CREATE INDEX mutes_account ON mutes (account_id, id);
CREATE INDEX mutes_target ON mutes (target_account_id, account_id);
CREATE INDEX mutes_expiry ON mutes (expires_at) WHERE expires_at IS NOT NULL;

-- Domains that one account does not want to see.
CREATE TABLE account_domain_blocks (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    domain TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX account_domain_blocks_pair ON account_domain_blocks (account_id, domain);

CREATE TABLE account_notes (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    comment TEXT NOT NULL,
    PRIMARY KEY (account_id, target_account_id)
);
CREATE INDEX account_notes_target ON account_notes (target_account_id);

CREATE TABLE endorsements (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX endorsements_pair ON endorsements (account_id, target_account_id);
CREATE INDEX endorsements_target ON endorsements (target_account_id);

CREATE TABLE lists (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    replies_policy TEXT NOT NULL,
    exclusive BOOLEAN NOT NULL,
    notify BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX lists_account ON lists (account_id, id);

CREATE TABLE list_accounts (
    list_id BIGINT NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (list_id, account_id)
);
CREATE INDEX list_accounts_account ON list_accounts (account_id);

-- Materialised timelines. kind 0 is home (owner: the account), 1 a list; plugins get numbers of their own.
CREATE TABLE feed_entries (
    kind SMALLINT NOT NULL,
    owner_id BIGINT NOT NULL,
    status_id BIGINT NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    author_id BIGINT NOT NULL,
    original_id BIGINT NOT NULL,
    PRIMARY KEY (kind, owner_id, status_id)
);
CREATE INDEX feed_entries_status ON feed_entries (status_id);

-- No index begins with the id: a page is never read by walking everybody's notifications.
CREATE TABLE notifications (
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    from_account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    type TEXT NOT NULL,
    activity_id BIGINT NOT NULL,
    status_id BIGINT REFERENCES statuses (id) ON DELETE CASCADE,
    group_key TEXT COLLATE "C",
    filtered BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (account_id, id)
);
CREATE UNIQUE INDEX notifications_activity ON notifications (activity_id, type, account_id);
CREATE INDEX notifications_type ON notifications (account_id, type, id);
CREATE INDEX notifications_group ON notifications (account_id, group_key, id) WHERE group_key IS NOT NULL;
CREATE INDEX notifications_from ON notifications (from_account_id, account_id, id);
CREATE INDEX notifications_status ON notifications (status_id) WHERE status_id IS NOT NULL;

CREATE TABLE markers (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    timeline TEXT NOT NULL,
    last_read_id BIGINT NOT NULL,
    version BIGINT NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (account_id, timeline)
);

CREATE TABLE custom_emojis (
    id BIGINT PRIMARY KEY,
    shortcode TEXT NOT NULL,
    domain TEXT,
    uri TEXT,
    category TEXT,
    file TEXT,
    static_file TEXT,
    remote_url TEXT,
    visible_in_picker BOOLEAN NOT NULL,
    disabled BOOLEAN NOT NULL,
    sensitive BOOLEAN NOT NULL,
    aliases JSONB NOT NULL,
    license TEXT,
    width BIGINT,
    height BIGINT,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX custom_emojis_shortcode ON custom_emojis (shortcode, coalesce(domain, ''));

-- What an admin changes while the server runs. The row "generation" grows with every change, so that a server notices.
CREATE TABLE settings (
    key TEXT PRIMARY KEY,
    value JSONB NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE rules (
    id BIGINT PRIMARY KEY,
    priority BIGINT NOT NULL,
    text TEXT NOT NULL,
    hint TEXT NOT NULL,
    deleted_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL
);

-- Domains that the server met, and what its moderators decided about domains.
CREATE TABLE instances (
    domain TEXT PRIMARY KEY,
    software TEXT,
    features JSONB NOT NULL,
    fetched_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE domain_blocks (
    id BIGINT PRIMARY KEY,
    domain TEXT NOT NULL,
    severity TEXT NOT NULL,
    reject_media BOOLEAN NOT NULL,
    reject_reports BOOLEAN NOT NULL,
    obfuscate BOOLEAN NOT NULL,
    hidden BOOLEAN NOT NULL,
    private_comment TEXT,
    public_comment TEXT,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX domain_blocks_domain ON domain_blocks (domain);

-- A repeated request with the same key gets the first answer again (contract rules, section 10).
CREATE TABLE idempotency_keys (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    status_id BIGINT NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (account_id, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);
CREATE INDEX idempotency_keys_status ON idempotency_keys (status_id);

-- The durable queue. state: ready, running, dead. key: at most one waiting job of a kind with it.
CREATE TABLE jobs (
    id BIGINT PRIMARY KEY,
    lane TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT,
    payload JSONB NOT NULL,
    state TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    run_at TIMESTAMPTZ NOT NULL,
    lease_until TIMESTAMPTZ,
    last_error TEXT,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX jobs_ready ON jobs (lane, run_at, id) WHERE state = 'ready';
CREATE INDEX jobs_running ON jobs (lease_until) WHERE state = 'running';
CREATE INDEX jobs_dead ON jobs (id) WHERE state = 'dead';
CREATE UNIQUE INDEX jobs_key ON jobs (kind, key) WHERE key IS NOT NULL AND state = 'ready';

INSERT INTO roles (id, name, color, position, permissions, highlighted) VALUES
    (-99, '', '', -1, 65536, FALSE),
    (1, 'Moderator', '', 10, 1308, TRUE),
    (2, 'Admin', '', 100, 983036, TRUE),
    (3, 'Owner', '', 1000, 1, TRUE);
