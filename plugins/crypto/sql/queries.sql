-- Requests that change one person's devices, keys or messages stand one after the other: this row is held until the end
-- of the transaction.
-- name: hold_own returns: exec
-- params: integer account
INSERT INTO owners (account_id) VALUES (:account)
ON CONFLICT (account_id) DO UPDATE SET account_id = excluded.account_id;

-- The same for somebody who may have no device: several in the order of their ids, so that nobody waits in a circle.
-- name: hold returns: exec
-- params: integer account
UPDATE owners SET account_id = account_id WHERE account_id = :account;

-- name: device_of returns: optional
-- params: integer token
SELECT d.id, d.account_id, d.token_id, d.device_id, d.name, d.fingerprint_key, d.identity_key, d.last_message
FROM devices d
WHERE d.token_id = :token;

-- The devices of people, by the order in which they were made; none whose token was revoked, and none of who is suspended.
-- name: devices_of returns: many
-- params: integers accounts
SELECT d.id, d.account_id, d.token_id, d.device_id, d.name, d.fingerprint_key, d.identity_key, d.last_message
FROM devices d
JOIN core_v1.tokens t ON t.id = d.token_id
JOIN core_v1.accounts a ON a.id = d.account_id
WHERE d.account_id {in:accounts} AND NOT a.suspended
ORDER BY d.account_id, d.id;

-- name: count_devices returns: one
-- params: integer account
SELECT COUNT(*) AS count FROM devices d WHERE d.account_id = :account;

-- name: insert_device returns: one
-- params: integer account, integer token, text device_id, text name, text fingerprint_key, text identity_key
INSERT INTO devices (account_id, token_id, device_id, name, fingerprint_key, identity_key, last_message)
VALUES (:account, :token, :device_id, :name, :fingerprint_key, :identity_key, 0)
RETURNING id;

-- name: update_device returns: exec
-- params: integer id, text device_id, text name, text fingerprint_key, text identity_key
UPDATE devices
SET device_id = :device_id, name = :name, fingerprint_key = :fingerprint_key, identity_key = :identity_key
WHERE id = :id;

-- Somebody's devices whose token was revoked, with their keys and messages.
-- name: forget_revoked returns: exec
-- params: integer account
DELETE FROM devices
WHERE account_id = :account
  AND NOT EXISTS (SELECT 1 FROM core_v1.tokens t WHERE t.id = devices.token_id);

-- name: forget_tokens returns: exec
-- params: integers tokens
DELETE FROM devices WHERE token_id {in:tokens};

-- name: drop_keys returns: exec
-- params: integer device
DELETE FROM one_time_keys WHERE device = :device;

-- name: drop_messages returns: exec
-- params: integer device
DELETE FROM messages WHERE device = :device;

-- name: keys_of returns: many
-- params: integer device
SELECT k.key_id, k.key FROM one_time_keys k WHERE k.device = :device;

-- name: add_key returns: exec
-- params: integer device, integer account, text key_id, text key, text signature, integer lot
INSERT INTO one_time_keys (device, account_id, key_id, key, signature, lot)
VALUES (:device, :account, :key_id, :key, :signature, :lot);

-- name: count_keys returns: one
-- params: integer device
SELECT COUNT(*) AS count FROM one_time_keys k WHERE k.device = :device;

-- One key of each device, by lot. Who claims holds the owners, so that of claims at once each gets another key.
-- name: claim returns: many
-- params: integers devices
DELETE FROM one_time_keys
WHERE id IN (
    SELECT (SELECT k.id FROM one_time_keys k WHERE k.device = d.id ORDER BY k.lot, k.id LIMIT 1) AS id
    FROM devices d
    WHERE d.id {in:devices})
RETURNING device, key_id, key, signature;

-- How many keys somebody claimed of devices within an hour.
-- name: claimed returns: many
-- params: integers devices, integer asker, integer hour
SELECT c.device, c.count FROM claims c WHERE c.asker = :asker AND c.device {in:devices} AND c.hour = :hour;

-- The same of all devices.
-- name: claimed_in_all returns: one
-- params: integer asker, integer hour
SELECT COALESCE(SUM(c.count), 0) AS count FROM claims c WHERE c.asker = :asker AND c.hour = :hour;

-- name: note_claims returns: exec
-- params: integers devices, integer asker, integer hour
INSERT INTO claims (asker, device, hour, count)
SELECT :asker, e.value, :hour, 1 FROM {each:devices as e} WHERE TRUE
ON CONFLICT (asker, device) DO UPDATE
SET count = CASE WHEN claims.hour = excluded.hour THEN claims.count + 1 ELSE 1 END, hour = excluded.hour;

-- The counts of the earliest hour, if that is over.
-- name: forget_claims returns: exec
-- params: integer before
DELETE FROM claims WHERE hour = (SELECT MIN(c.hour) FROM claims c) AND hour < :before;

-- Bytes of the messages that wait for people, and of those that one account sent them.
-- name: kept_for returns: many
-- params: integers accounts, integer sender
SELECT m.account_id, SUM(m.size) AS total, SUM(CASE WHEN m.from_account_id = :sender THEN m.size ELSE 0 END) AS own
FROM messages m
WHERE m.account_id {in:accounts}
GROUP BY m.account_id;

-- Bytes of all messages of one account that wait.
-- name: kept_from returns: one
-- params: integer sender
SELECT COALESCE(SUM(m.size), 0) AS total FROM messages m WHERE m.from_account_id = :sender;

-- The oldest of the messages from before a time.
-- name: expired returns: many
-- params: integer before, integer limit
SELECT m.created_at FROM messages m WHERE m.created_at < :before ORDER BY m.created_at LIMIT :limit;

-- name: expire returns: exec
-- params: integer up_to
DELETE FROM messages WHERE created_at <= :up_to;

-- How many messages wait for devices, and how many of them one account sent.
-- name: waiting returns: many
-- params: integers devices, integer sender
SELECT m.device, COUNT(*) AS total, COUNT(CASE WHEN m.from_account_id = :sender THEN 1 END) AS own
FROM messages m
WHERE m.device {in:devices}
GROUP BY m.device;

-- name: add_message returns: exec
-- params: integer device, integer id, integer account, integer sender, text from_device, integer type, text body, text digest, text franking, integer at, integer size
INSERT INTO messages (device, id, account_id, from_account_id, from_device, type, body, digest, franking, created_at, size)
VALUES (:device, :id, :account, :sender, :from_device, :type, :body, :digest, :franking, :at, :size);

-- name: set_last returns: exec
-- params: integer device, integer last
UPDATE devices SET last_message = :last WHERE id = :device;

-- name: newest returns: many
-- params: integer device, integer before, integer after, integer limit
SELECT m.id, m.from_account_id, m.from_device, m.type, m.body, m.digest, m.franking, m.created_at
FROM messages m
WHERE m.device = :device AND m.id < :before AND m.id > :after
ORDER BY m.id DESC
LIMIT :limit;

-- name: next returns: many
-- params: integer device, integer before, integer after, integer limit
SELECT m.id, m.from_account_id, m.from_device, m.type, m.body, m.digest, m.franking, m.created_at
FROM messages m
WHERE m.device = :device AND m.id < :before AND m.id > :after
ORDER BY m.id
LIMIT :limit;

-- name: clear returns: exec
-- params: integer device, integer up_to
DELETE FROM messages WHERE device = :device AND id <= :up_to;

-- What somebody sent who is gone.
-- name: forget_senders returns: exec
-- params: integers accounts
DELETE FROM messages WHERE from_account_id {in:accounts};

-- All devices, a part at a time.
-- name: devices_after returns: many
-- params: integer after, integer limit
SELECT d.id FROM devices d WHERE d.id > :after ORDER BY d.id LIMIT :limit;

-- name: sweep returns: exec
-- params: integer after, integer last
DELETE FROM devices
WHERE id > :after AND id <= :last
  AND NOT EXISTS (SELECT 1 FROM core_v1.tokens t WHERE t.id = devices.token_id);
