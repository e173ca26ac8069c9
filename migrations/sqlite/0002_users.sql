-- Users, the private side of local accounts: roles, sign-in, browser sessions and activity.

-- A set of permissions. Role -99 is the default: its permissions are those of every user.
CREATE TABLE roles (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    color TEXT NOT NULL,
    position INTEGER NOT NULL, -- the order of roles, the highest first
    permissions INTEGER NOT NULL, -- bits (docs/contract/rules.md#2-authentication)
    highlighted INTEGER NOT NULL -- shown on the profile
) STRICT;
CREATE UNIQUE INDEX roles_name ON roles (name);

INSERT INTO roles (id, name, color, position, permissions, highlighted) VALUES
    (-99, '', '', -1, 65536, FALSE),
    (1, 'Moderator', '', 10, 1308, TRUE),
    (2, 'Admin', '', 100, 983036, TRUE),
    (3, 'Owner', '', 1000, 1, TRUE);

-- The private part of a local account: sign-in and preferences.
CREATE TABLE users (
    account_id INTEGER PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    role_id INTEGER REFERENCES roles (id) ON DELETE SET NULL,
    -- Stated by the plugin that admitted the user.
    invited_by_account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
    sign_up_app_id INTEGER, -- an id of oauth_apps, without a foreign key
    email TEXT NOT NULL,
    unconfirmed_email TEXT, -- replaces email once it is confirmed
    password_hash TEXT,
    sign_up_reason TEXT,
    approved INTEGER NOT NULL,
    disabled INTEGER NOT NULL,
    locale TEXT,
    time_zone TEXT,
    preferences TEXT NOT NULL,
    feed_state TEXT NOT NULL, -- of the home feed: live, or dropped after a long absence
    last_active_at INTEGER,
    confirmed_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX users_email ON users (lower(email));
CREATE INDEX users_role ON users (role_id) WHERE role_id IS NOT NULL;
CREATE INDEX users_invited_by ON users (invited_by_account_id) WHERE invited_by_account_id IS NOT NULL;

-- A week in which an account used the server: usage figures without a log of actions.
CREATE TABLE user_activity (
    week INTEGER NOT NULL, -- counted from the epoch
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (week, account_id)
) STRICT;
CREATE INDEX user_activity_account ON user_activity (account_id);

-- A session of a browser on the server's own pages.
CREATE TABLE web_sessions (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    token_hash TEXT NOT NULL,
    browser TEXT NOT NULL DEFAULT '', -- the header User-Agent, shortened, by which users tell their sessions apart
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX web_sessions_hash ON web_sessions (token_hash);
CREATE INDEX web_sessions_account ON web_sessions (account_id);
CREATE INDEX web_sessions_expiry ON web_sessions (expires_at);

-- A link that works once: it confirms an address, sets a new password or creates the owner.
CREATE TABLE one_time_links (
    id INTEGER PRIMARY KEY,
    account_id INTEGER REFERENCES accounts (id) ON DELETE CASCADE, -- NULL: the owner is still to be created
    kind TEXT NOT NULL, -- confirm_email, reset_password or owner_setup
    token_hash TEXT NOT NULL,
    email TEXT, -- the address to confirm
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX one_time_links_hash ON one_time_links (token_hash);
CREATE INDEX one_time_links_account ON one_time_links (account_id);
CREATE INDEX one_time_links_expiry ON one_time_links (expires_at);
