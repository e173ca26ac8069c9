-- Keys of the server itself, by what they are for; private_key: sealed.
CREATE TABLE server_keys (
    name TEXT PRIMARY KEY,
    private_key TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Who is pushed notifications: at most one subscription for each access token. number: as clients know it, some of which
-- read 32 bits. alerts: an object of booleans by type of notification. standard: in the encoding aes128gcm.
-- failing_since: of a push service that fails for good.
CREATE TABLE push_subscriptions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    token_id INTEGER NOT NULL REFERENCES oauth_tokens (id) ON DELETE CASCADE,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    endpoint TEXT NOT NULL,
    p256dh TEXT NOT NULL,
    auth TEXT NOT NULL,
    standard INTEGER NOT NULL,
    alerts TEXT NOT NULL,
    policy TEXT NOT NULL,
    failing_since INTEGER,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX push_subscriptions_token ON push_subscriptions (token_id);
CREATE INDEX push_subscriptions_account ON push_subscriptions (account_id);
