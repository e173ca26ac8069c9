-- Users, the private side of local accounts: roles, sign-in, browser sessions and activity.

-- A set of permissions. Role -99 is the default: its permissions are those of every user.
CREATE TABLE roles (
    id BIGINT PRIMARY KEY,
    name TEXT NOT NULL,
    color TEXT NOT NULL,
    position BIGINT NOT NULL, -- the order of roles, the highest first
    permissions BIGINT NOT NULL, -- bits (docs/contract/rules.md#2-authentication)
    highlighted BOOLEAN NOT NULL -- shown on the profile
);
CREATE UNIQUE INDEX roles_name ON roles (name);

INSERT INTO roles (id, name, color, position, permissions, highlighted) VALUES
    (-99, '', '', -1, 65536, FALSE),
    (1, 'Moderator', '', 10, 1308, TRUE),
    (2, 'Admin', '', 100, 983036, TRUE),
    (3, 'Owner', '', 1000, 1, TRUE);

-- The private part of a local account: sign-in and preferences.
CREATE TABLE users (
    account_id BIGINT PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    role_id BIGINT REFERENCES roles (id) ON DELETE SET NULL,
    -- Stated by the plugin that admitted the user.
    invited_by_account_id BIGINT REFERENCES accounts (id) ON DELETE SET NULL,
    sign_up_app_id BIGINT, -- an id of oauth_apps, without a foreign key
    email TEXT NOT NULL,
    unconfirmed_email TEXT, -- replaces email once it is confirmed
    password_hash TEXT,
    sign_up_reason TEXT,
    approved BOOLEAN NOT NULL,
    disabled BOOLEAN NOT NULL,
    locale TEXT,
    time_zone TEXT,
    preferences JSONB NOT NULL,
    feed_state TEXT NOT NULL, -- of the home feed: live, or dropped after a long absence
    last_active_at TIMESTAMPTZ,
    confirmed_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX users_email ON users (lower(email));
CREATE INDEX users_role ON users (role_id) WHERE role_id IS NOT NULL;
CREATE INDEX users_invited_by ON users (invited_by_account_id) WHERE invited_by_account_id IS NOT NULL;

-- A week in which an account used the server: usage figures without a log of actions.
CREATE TABLE user_activity (
    week BIGINT NOT NULL, -- counted from the epoch
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (week, account_id)
);
CREATE INDEX user_activity_account ON user_activity (account_id);

-- A session of a browser on the server's own pages.
CREATE TABLE web_sessions (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    token_hash TEXT NOT NULL,
    browser TEXT NOT NULL DEFAULT '', -- the header User-Agent, shortened, by which users tell their sessions apart
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX web_sessions_hash ON web_sessions (token_hash);
CREATE INDEX web_sessions_account ON web_sessions (account_id);
CREATE INDEX web_sessions_expiry ON web_sessions (expires_at);

-- A link that works once: it confirms an address, sets a new password or creates the owner.
CREATE TABLE one_time_links (
    id BIGINT PRIMARY KEY,
    account_id BIGINT REFERENCES accounts (id) ON DELETE CASCADE, -- NULL: the owner is still to be created
    kind TEXT NOT NULL, -- confirm_email, reset_password or owner_setup
    token_hash TEXT NOT NULL,
    email TEXT, -- the address to confirm
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX one_time_links_hash ON one_time_links (token_hash);
CREATE INDEX one_time_links_account ON one_time_links (account_id);
CREATE INDEX one_time_links_expiry ON one_time_links (expires_at);
