-- name: by_code returns: optional
-- params: text code
SELECT i.id, i.code, i.account_id, i.max_uses, i.uses, i.expires_at, i.autofollow, i.comment
FROM invites i
WHERE i.code = :code;

-- Counts a use, if there is one left. Those at once wait for each other at this row until their accounts are made.
-- name: count_use returns: optional
-- params: text code
UPDATE invites SET uses = uses + 1
WHERE code = :code AND (max_uses IS NULL OR uses < max_uses) AND (expires_at IS NULL OR expires_at > {now})
RETURNING id, account_id;

-- name: arrive returns: exec
-- params: integer account, integer invite
INSERT INTO arrivals (account_id, invite_id) VALUES (:account, :invite);

-- Whoever is to be followed by accounts that arrived.
-- name: to_follow returns: many
-- params: integers accounts
SELECT a.account_id AS arrived, i.account_id AS inviter
FROM arrivals a
JOIN invites i ON i.id = a.invite_id
WHERE a.account_id {in:accounts} AND i.autofollow;

-- Invitations that one person makes at once stand one after the other: this row is held until the end of the transaction.
-- name: hold_inviter returns: exec
-- params: integer account
INSERT INTO inviters (account_id) VALUES (:account)
ON CONFLICT (account_id) DO UPDATE SET account_id = excluded.account_id;

-- name: count returns: one
-- params: integer account
SELECT COUNT(*) AS count FROM invites i WHERE i.account_id = :account;

-- The oldest that are over, as many as said. Whoever came by one of them and is not active yet follows nobody then.
-- name: forget_expired returns: exec
-- params: integer account, integer most
DELETE FROM invites
WHERE id IN (SELECT i.id FROM invites i WHERE i.account_id = :account AND i.expires_at <= {now} ORDER BY i.id LIMIT :most);

-- name: create returns: optional
-- params: text code, integer account, integer max_uses, integer expires_at, boolean autofollow, text comment
INSERT INTO invites (code, account_id, max_uses, uses, expires_at, autofollow, comment, created_at)
VALUES (:code, :account, :max_uses, 0, :expires_at, :autofollow, :comment, {now})
ON CONFLICT (code) DO NOTHING
RETURNING id;

-- The invitations of an account, newest first.
-- name: of_account returns: many
-- params: integer account, integer before, integer limit
SELECT i.id, i.code, i.account_id, i.max_uses, i.uses, i.expires_at, i.autofollow, i.comment
FROM invites i
WHERE i.account_id = :account AND i.id < :before
ORDER BY i.id DESC
LIMIT :limit;

-- Those of everybody.
-- name: of_all returns: many
-- params: integer before, integer limit
SELECT i.id, i.code, i.account_id, i.max_uses, i.uses, i.expires_at, i.autofollow, i.comment, c.username
FROM invites i
JOIN core_v1.accounts c ON c.id = i.account_id
WHERE i.id < :before
ORDER BY i.id DESC
LIMIT :limit;

-- name: expire returns: exec
-- params: integer id, integer account
UPDATE invites SET expires_at = {now} WHERE id = :id AND account_id = :account AND (expires_at IS NULL OR expires_at > {now});

-- name: expire_any returns: exec
-- params: integer id
UPDATE invites SET expires_at = {now} WHERE id = :id AND (expires_at IS NULL OR expires_at > {now});
