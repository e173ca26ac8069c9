-- Whose devices there are: what is changed of one person's devices waits here for its turn.
CREATE TABLE owners (
    account_id integer PRIMARY KEY
);

-- last_message: the largest id that a message of the device had, so that none is used twice and none comes late.
CREATE TABLE devices (
    id integer PRIMARY KEY,
    account_id integer NOT NULL,
    token_id integer NOT NULL,
    device_id text NOT NULL,
    name text NOT NULL,
    fingerprint_key text NOT NULL,
    identity_key text NOT NULL,
    last_message integer NOT NULL
);
CREATE UNIQUE INDEX devices_token ON devices (token_id);
CREATE UNIQUE INDEX devices_account ON devices (account_id, device_id);

-- lot: random, and the order in which keys are given out. account_id: the device's, again.
CREATE TABLE one_time_keys (
    id integer PRIMARY KEY,
    device integer NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    account_id integer NOT NULL,
    key_id text NOT NULL,
    key text NOT NULL,
    signature text NOT NULL,
    lot integer NOT NULL
);
CREATE INDEX one_time_keys_device ON one_time_keys (device, lot);
CREATE INDEX one_time_keys_account ON one_time_keys (account_id);

-- account_id: the receiving device's, again. Ids grow with each device's messages; created_at: milliseconds.
CREATE TABLE messages (
    device integer NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    id integer NOT NULL,
    account_id integer NOT NULL,
    from_account_id integer NOT NULL,
    from_device text NOT NULL,
    type integer NOT NULL,
    body text NOT NULL,
    digest text NOT NULL,
    franking text NOT NULL,
    created_at integer NOT NULL,
    PRIMARY KEY (device, id)
);
CREATE INDEX messages_account ON messages (account_id);
CREATE INDEX messages_from ON messages (from_account_id);
