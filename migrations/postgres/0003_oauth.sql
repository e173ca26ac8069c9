-- OAuth: applications, authorization codes and access tokens.

-- A registered application.
CREATE TABLE oauth_apps (
    id BIGINT PRIMARY KEY,
    name TEXT NOT NULL,
    website TEXT,
    redirect_uris TEXT NOT NULL, -- one a line
    scopes TEXT NOT NULL, -- all scopes that it may request
    client_id TEXT NOT NULL,
    client_secret_hash TEXT NOT NULL,
    superapp BOOLEAN NOT NULL, -- the server's own application, which needs no consent
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX oauth_apps_client_id ON oauth_apps (client_id);

-- An authorization code (RFC 6749, section 4.1), stored as a hash and redeemed once.
CREATE TABLE oauth_grants (
    id BIGINT PRIMARY KEY,
    app_id BIGINT NOT NULL REFERENCES oauth_apps (id) ON DELETE CASCADE,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    token_id BIGINT, -- the token it was redeemed for, revoked at a second attempt
    code_hash TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    scopes TEXT NOT NULL,
    code_challenge TEXT, -- S256 of the verifier (PKCE, RFC 7636)
    expires_at TIMESTAMPTZ NOT NULL,
    redeemed_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX oauth_grants_code ON oauth_grants (code_hash);
CREATE INDEX oauth_grants_expiry ON oauth_grants (expires_at);
CREATE INDEX oauth_grants_app ON oauth_grants (app_id);
CREATE INDEX oauth_grants_account ON oauth_grants (account_id);

-- An access token. The token itself is derived from the server's secret and the nonce: its application can be shown it
-- again, and it is stored nowhere.
CREATE TABLE oauth_tokens (
    id BIGINT PRIMARY KEY,
    app_id BIGINT REFERENCES oauth_apps (id) ON DELETE CASCADE,
    account_id BIGINT REFERENCES accounts (id) ON DELETE CASCADE, -- NULL: a token of the application alone
    token_hash TEXT NOT NULL,
    nonce TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    last_used_at TIMESTAMPTZ,
    revoked_at TIMESTAMPTZ
);
CREATE UNIQUE INDEX oauth_tokens_hash ON oauth_tokens (token_hash);
CREATE INDEX oauth_tokens_owner ON oauth_tokens (account_id, app_id);
CREATE INDEX oauth_tokens_app ON oauth_tokens (app_id);
