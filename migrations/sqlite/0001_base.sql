-- Accounts, local and remote alike: domain IS NULL is local. search_name: the display name in lower case, as it is found by.
CREATE TABLE accounts (
    id INTEGER PRIMARY KEY,
    username TEXT NOT NULL,
    domain TEXT,
    uri TEXT NOT NULL,
    url TEXT,
    actor_type TEXT NOT NULL,
    display_name TEXT NOT NULL,
    search_name TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL,
    note_html TEXT NOT NULL,
    fields TEXT NOT NULL,
    avatar TEXT,
    avatar_static TEXT,
    avatar_remote_url TEXT,
    header TEXT,
    header_static TEXT,
    header_remote_url TEXT,
    locked INTEGER NOT NULL,
    discoverable INTEGER,
    indexable INTEGER NOT NULL,
    hide_collections INTEGER,
    searchability TEXT NOT NULL,
    memorial INTEGER NOT NULL,
    suspended_at INTEGER,
    limited_at INTEGER,
    moved_to_account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
    also_known_as TEXT NOT NULL,
    other_settings TEXT NOT NULL,
    inbox_url TEXT,
    outbox_url TEXT,
    shared_inbox_url TEXT,
    followers_url TEXT,
    following_url TEXT,
    featured_url TEXT,
    public_key TEXT,
    private_key TEXT,
    followers_count INTEGER NOT NULL,
    following_count INTEGER NOT NULL,
    statuses_count INTEGER NOT NULL,
    last_status_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    fetched_at INTEGER,
    version INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX accounts_username ON accounts (lower(username), coalesce(lower(domain), ''));
CREATE INDEX accounts_search_name ON accounts (search_name);
CREATE UNIQUE INDEX accounts_uri ON accounts (uri);
CREATE INDEX accounts_domain ON accounts (domain, id) WHERE domain IS NOT NULL;

-- Permission bits: contract rules, section 2.
CREATE TABLE roles (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    color TEXT NOT NULL,
    position INTEGER NOT NULL,
    permissions INTEGER NOT NULL,
    highlighted INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX roles_name ON roles (name);

-- What a local account has beyond its public face: how its person signs in, and what they prefer.
CREATE TABLE users (
    account_id INTEGER PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    email TEXT NOT NULL,
    unconfirmed_email TEXT,
    password_hash TEXT,
    confirmed_at INTEGER,
    approved INTEGER NOT NULL,
    disabled INTEGER NOT NULL,
    role_id INTEGER REFERENCES roles (id) ON DELETE SET NULL,
    locale TEXT,
    time_zone TEXT,
    sign_up_app_id INTEGER,
    sign_up_reason TEXT,
    preferences TEXT NOT NULL,
    last_active_at INTEGER,
    feed_state TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX users_email ON users (lower(email));
CREATE INDEX users_role ON users (role_id) WHERE role_id IS NOT NULL;

-- One row for a person and a week in which they used the server: usage figures without a log of what they did.
CREATE TABLE user_activity (
    week INTEGER NOT NULL,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (week, account_id)
) STRICT;
CREATE INDEX user_activity_account ON user_activity (account_id);

CREATE TABLE oauth_apps (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    website TEXT,
    redirect_uris TEXT NOT NULL,
    scopes TEXT NOT NULL,
    client_id TEXT NOT NULL,
    client_secret_hash TEXT NOT NULL,
    superapp INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX oauth_apps_client_id ON oauth_apps (client_id);

-- Authorization codes (RFC 6749 section 4.1), stored hashed, redeemed once.
CREATE TABLE oauth_grants (
    id INTEGER PRIMARY KEY,
    code_hash TEXT NOT NULL,
    app_id INTEGER NOT NULL REFERENCES oauth_apps (id) ON DELETE CASCADE,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    redirect_uri TEXT NOT NULL,
    scopes TEXT NOT NULL,
    code_challenge TEXT,
    expires_at INTEGER NOT NULL,
    redeemed_at INTEGER,
    token_id INTEGER,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX oauth_grants_code ON oauth_grants (code_hash);
CREATE INDEX oauth_grants_expiry ON oauth_grants (expires_at);
CREATE INDEX oauth_grants_app ON oauth_grants (app_id);
CREATE INDEX oauth_grants_account ON oauth_grants (account_id);

-- Access tokens. The token itself is derived from the server's secret and the nonce, so that it can be shown
-- again to the application it belongs to, and is nowhere stored.
CREATE TABLE oauth_tokens (
    id INTEGER PRIMARY KEY,
    token_hash TEXT NOT NULL,
    nonce TEXT NOT NULL,
    app_id INTEGER REFERENCES oauth_apps (id) ON DELETE CASCADE,
    account_id INTEGER REFERENCES accounts (id) ON DELETE CASCADE,
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at INTEGER
) STRICT;
CREATE UNIQUE INDEX oauth_tokens_hash ON oauth_tokens (token_hash);
CREATE INDEX oauth_tokens_owner ON oauth_tokens (account_id, app_id);
CREATE INDEX oauth_tokens_app ON oauth_tokens (app_id);

-- Browser sessions.
CREATE TABLE web_sessions (
    id INTEGER PRIMARY KEY,
    token_hash TEXT NOT NULL,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX web_sessions_hash ON web_sessions (token_hash);
CREATE INDEX web_sessions_account ON web_sessions (account_id);
CREATE INDEX web_sessions_expiry ON web_sessions (expires_at);

-- Links that work once: confirming an address, resetting a password, creating the owner.
CREATE TABLE one_time_links (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    token_hash TEXT NOT NULL,
    account_id INTEGER REFERENCES accounts (id) ON DELETE CASCADE,
    email TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX one_time_links_hash ON one_time_links (token_hash);
CREATE INDEX one_time_links_account ON one_time_links (account_id);
CREATE INDEX one_time_links_expiry ON one_time_links (expires_at);

CREATE TABLE conversations (
    id INTEGER PRIMARY KEY,
    uri TEXT,
    owner_account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX conversations_uri ON conversations (uri) WHERE uri IS NOT NULL;
CREATE INDEX conversations_owner ON conversations (owner_account_id) WHERE owner_account_id IS NOT NULL;

-- text: what a local author wrote; content: the HTML made from it once. listed: stands on public timelines.
CREATE TABLE statuses (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    uri TEXT NOT NULL,
    url TEXT,
    local INTEGER NOT NULL,
    text TEXT NOT NULL,
    content TEXT NOT NULL,
    spoiler_text TEXT NOT NULL,
    sensitive INTEGER NOT NULL,
    visibility TEXT NOT NULL,
    limited_scope TEXT,
    searchability TEXT NOT NULL,
    language TEXT,
    conversation_id INTEGER REFERENCES conversations (id) ON DELETE SET NULL,
    in_reply_to_id INTEGER REFERENCES statuses (id) ON DELETE SET NULL,
    in_reply_to_account_id INTEGER,
    reblog_of_id INTEGER REFERENCES statuses (id) ON DELETE CASCADE,
    app_id INTEGER,
    listed INTEGER NOT NULL,
    has_media INTEGER NOT NULL,
    replies_count INTEGER NOT NULL,
    reblogs_count INTEGER NOT NULL,
    favourites_count INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    edited_at INTEGER,
    version INTEGER NOT NULL
) STRICT;
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
    id INTEGER PRIMARY KEY,
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    text TEXT NOT NULL,
    content TEXT NOT NULL,
    spoiler_text TEXT NOT NULL,
    sensitive INTEGER NOT NULL,
    media TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX status_edits_status ON status_edits (status_id, id);

-- silent: still reaches the person, is no longer in the text.
CREATE TABLE mentions (
    id INTEGER PRIMARY KEY,
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    silent INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX mentions_status ON mentions (status_id, account_id);
CREATE INDEX mentions_account ON mentions (account_id, status_id);

CREATE TABLE tags (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    display_name TEXT NOT NULL,
    usable INTEGER NOT NULL,
    listable INTEGER,
    trendable INTEGER,
    last_status_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX tags_name ON tags (name);

CREATE TABLE status_tags (
    tag_id INTEGER NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    PRIMARY KEY (tag_id, status_id)
) STRICT;
CREATE INDEX status_tags_status ON status_tags (status_id);

CREATE TABLE tag_follows (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    tag_id INTEGER NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX tag_follows_account ON tag_follows (account_id, tag_id);
CREATE INDEX tag_follows_tag ON tag_follows (tag_id, account_id);

CREATE TABLE featured_tags (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    tag_id INTEGER NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
    statuses_count INTEGER NOT NULL,
    last_status_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX featured_tags_account ON featured_tags (account_id, tag_id);
CREATE INDEX featured_tags_tag ON featured_tags (tag_id);

CREATE TABLE media_attachments (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id INTEGER REFERENCES statuses (id) ON DELETE SET NULL,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    mime TEXT NOT NULL,
    file TEXT,
    size_bytes INTEGER NOT NULL,
    preview TEXT,
    remote_url TEXT,
    preview_remote_url TEXT,
    meta TEXT NOT NULL,
    description TEXT,
    blurhash TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX media_attachments_status ON media_attachments (status_id, position) WHERE status_id IS NOT NULL;
CREATE INDEX media_attachments_loose ON media_attachments (created_at) WHERE status_id IS NULL;
CREATE INDEX media_attachments_account ON media_attachments (account_id);

CREATE TABLE favourites (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX favourites_account_status ON favourites (account_id, status_id);
CREATE INDEX favourites_account ON favourites (account_id, id);
CREATE INDEX favourites_status ON favourites (status_id, id);

CREATE TABLE bookmarks (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX bookmarks_account_status ON bookmarks (account_id, status_id);
CREATE INDEX bookmarks_account ON bookmarks (account_id, id);
CREATE INDEX bookmarks_status ON bookmarks (status_id);

CREATE TABLE status_pins (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX status_pins_account ON status_pins (account_id, status_id);
CREATE INDEX status_pins_status ON status_pins (status_id);

CREATE TABLE conversation_mutes (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    PRIMARY KEY (account_id, conversation_id)
) STRICT;
CREATE INDEX conversation_mutes_conversation ON conversation_mutes (conversation_id);

CREATE TABLE follows (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    show_reblogs INTEGER NOT NULL,
    notify INTEGER NOT NULL,
    languages TEXT,
    uri TEXT,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX follows_pair ON follows (account_id, target_account_id);
CREATE INDEX follows_account ON follows (account_id, id);
CREATE INDEX follows_target ON follows (target_account_id, id);
CREATE INDEX follows_fanout ON follows (target_account_id, account_id);

CREATE TABLE follow_requests (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    show_reblogs INTEGER NOT NULL,
    notify INTEGER NOT NULL,
    languages TEXT,
    uri TEXT,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX follow_requests_pair ON follow_requests (account_id, target_account_id);
CREATE INDEX follow_requests_target ON follow_requests (target_account_id, id);

CREATE TABLE blocks (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    uri TEXT,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX blocks_pair ON blocks (account_id, target_account_id);
CREATE INDEX blocks_account ON blocks (account_id, id);
CREATE INDEX blocks_target ON blocks (target_account_id, account_id);

CREATE TABLE mutes (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    hide_notifications INTEGER NOT NULL,
    expires_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX mutes_pair ON mutes (account_id, target_account_id);
CREATE INDEX mutes_account ON mutes (account_id, id);
CREATE INDEX mutes_target ON mutes (target_account_id, account_id);
CREATE INDEX mutes_expiry ON mutes (expires_at) WHERE expires_at IS NOT NULL;

-- Domains that one account does not want to see.
CREATE TABLE account_domain_blocks (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    domain TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX account_domain_blocks_pair ON account_domain_blocks (account_id, domain);

CREATE TABLE account_notes (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    comment TEXT NOT NULL,
    PRIMARY KEY (account_id, target_account_id)
) STRICT;
CREATE INDEX account_notes_target ON account_notes (target_account_id);

CREATE TABLE endorsements (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX endorsements_pair ON endorsements (account_id, target_account_id);
CREATE INDEX endorsements_target ON endorsements (target_account_id);

CREATE TABLE lists (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    replies_policy TEXT NOT NULL,
    exclusive INTEGER NOT NULL,
    notify INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX lists_account ON lists (account_id, id);

CREATE TABLE list_accounts (
    list_id INTEGER NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (list_id, account_id)
) STRICT;
CREATE INDEX list_accounts_account ON list_accounts (account_id);

-- Materialised timelines. kind 0 is home (owner: the account), 1 a list; plugins get numbers of their own.
CREATE TABLE feed_entries (
    kind INTEGER NOT NULL,
    owner_id INTEGER NOT NULL,
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    author_id INTEGER NOT NULL,
    original_id INTEGER NOT NULL,
    PRIMARY KEY (kind, owner_id, status_id)
) STRICT;
CREATE INDEX feed_entries_status ON feed_entries (status_id);

CREATE TABLE notifications (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    from_account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    type TEXT NOT NULL,
    activity_id INTEGER NOT NULL,
    status_id INTEGER REFERENCES statuses (id) ON DELETE CASCADE,
    group_key TEXT,
    filtered INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX notifications_activity ON notifications (activity_id, type, account_id);
CREATE INDEX notifications_account ON notifications (account_id, id);
CREATE INDEX notifications_type ON notifications (account_id, type, id);
CREATE INDEX notifications_group ON notifications (account_id, group_key, id) WHERE group_key IS NOT NULL;
CREATE INDEX notifications_from ON notifications (from_account_id, account_id, id);
CREATE INDEX notifications_status ON notifications (status_id) WHERE status_id IS NOT NULL;

CREATE TABLE markers (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    timeline TEXT NOT NULL,
    last_read_id INTEGER NOT NULL,
    version INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, timeline)
) STRICT;

CREATE TABLE custom_emojis (
    id INTEGER PRIMARY KEY,
    shortcode TEXT NOT NULL,
    domain TEXT,
    uri TEXT,
    category TEXT,
    file TEXT,
    static_file TEXT,
    remote_url TEXT,
    visible_in_picker INTEGER NOT NULL,
    disabled INTEGER NOT NULL,
    sensitive INTEGER NOT NULL,
    aliases TEXT NOT NULL,
    license TEXT,
    width INTEGER,
    height INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX custom_emojis_shortcode ON custom_emojis (shortcode, coalesce(domain, ''));

-- What an admin changes while the server runs. The row "generation" grows with every change, so that a server notices.
CREATE TABLE settings (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE rules (
    id INTEGER PRIMARY KEY,
    priority INTEGER NOT NULL,
    text TEXT NOT NULL,
    hint TEXT NOT NULL,
    deleted_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT;

-- Domains that the server met, and what its moderators decided about domains.
CREATE TABLE instances (
    domain TEXT PRIMARY KEY,
    software TEXT,
    features TEXT NOT NULL,
    fetched_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE domain_blocks (
    id INTEGER PRIMARY KEY,
    domain TEXT NOT NULL,
    severity TEXT NOT NULL,
    reject_media INTEGER NOT NULL,
    reject_reports INTEGER NOT NULL,
    obfuscate INTEGER NOT NULL,
    hidden INTEGER NOT NULL,
    private_comment TEXT,
    public_comment TEXT,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX domain_blocks_domain ON domain_blocks (domain);

-- A repeated request with the same key gets the first answer again (contract rules, section 10).
CREATE TABLE idempotency_keys (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, key)
) STRICT;
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);
CREATE INDEX idempotency_keys_status ON idempotency_keys (status_id);

-- The durable queue. state: ready, running, dead. key: at most one waiting job of a kind with it.
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY,
    lane TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT,
    payload TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    run_at INTEGER NOT NULL,
    lease_until INTEGER,
    last_error TEXT,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX jobs_ready ON jobs (lane, run_at, id) WHERE state = 'ready';
CREATE INDEX jobs_running ON jobs (lease_until) WHERE state = 'running';
CREATE INDEX jobs_dead ON jobs (id) WHERE state = 'dead';
CREATE UNIQUE INDEX jobs_key ON jobs (kind, key) WHERE key IS NOT NULL AND state = 'ready';

INSERT INTO roles (id, name, color, position, permissions, highlighted) VALUES
    (-99, '', '', -1, 65536, FALSE),
    (1, 'Moderator', '', 10, 1308, TRUE),
    (2, 'Admin', '', 100, 983036, TRUE),
    (3, 'Owner', '', 1000, 1, TRUE);
