-- The reactions to statuses that a viewer sees, in the order of their making; viewer 0 is nobody, who sees all.
-- name: shown returns: many max-rows: 10000
-- params: integers statuses, integer viewer
SELECT r.status_id, r.account_id, r.name, r.domain, r.emoji_id IS NOT NULL AS custom, o.domain IS NULL AS local_author
FROM reactions r
JOIN core_v1.accounts a ON a.id = r.account_id
JOIN core_v1.statuses s ON s.id = r.status_id
JOIN core_v1.accounts o ON o.id = s.account_id
WHERE r.status_id {in:statuses}
  AND (:viewer = 0 OR r.account_id = :viewer OR (
        NOT a.suspended AND NOT a.limited
        AND NOT EXISTS (SELECT 1 FROM core_v1.blocks b WHERE b.account_id = :viewer AND b.target_account_id = r.account_id)
        AND NOT EXISTS (SELECT 1 FROM core_v1.blocks b WHERE b.account_id = r.account_id AND b.target_account_id = :viewer)
        AND NOT EXISTS (SELECT 1 FROM core_v1.mutes m WHERE m.account_id = :viewer AND m.target_account_id = r.account_id
                        AND (m.expires_at IS NULL OR m.expires_at > {now}))
        AND NOT EXISTS (SELECT 1 FROM core_v1.account_domain_blocks d WHERE d.account_id = :viewer AND d.domain = a.domain)))
ORDER BY r.status_id, r.id;

-- Who reacted to a status, newest first, without those whom the viewer blocked or muted or who blocked the viewer.
-- name: reacted_by returns: many
-- params: integer status, integer viewer, integer before, integer after, integer limit
SELECT r.id, r.account_id, r.name, r.domain, r.emoji_id IS NOT NULL AS custom
FROM reactions r
JOIN core_v1.accounts a ON a.id = r.account_id
WHERE r.status_id = :status
  AND NOT a.suspended
  AND NOT EXISTS (SELECT 1 FROM core_v1.blocks b WHERE b.account_id = :viewer AND b.target_account_id = r.account_id)
  AND NOT EXISTS (SELECT 1 FROM core_v1.blocks b WHERE b.account_id = r.account_id AND b.target_account_id = :viewer)
  AND NOT EXISTS (SELECT 1 FROM core_v1.mutes m WHERE m.account_id = :viewer AND m.target_account_id = r.account_id
                        AND (m.expires_at IS NULL OR m.expires_at > {now}))
  AND r.id < :before AND r.id > :after
ORDER BY r.id DESC
LIMIT :limit;

-- What the caller reacted to, newest reaction first, once for each reaction. Answered by the host alone.
-- name: reacted_to returns: page(status)
-- params: integer caller
SELECT r.status_id AS id, r.id AS page_id
FROM reactions r
WHERE r.account_id = :caller AND {page:r.id};

-- name: count_own returns: one
-- params: integer status, integer account
SELECT COUNT(*) AS count FROM reactions r WHERE r.status_id = :status AND r.account_id = :account;

-- Whether anyone reacted to a status with this emoji of another server; which one it is.
-- name: used_there returns: optional
-- params: integer status, text name, text domain
SELECT r.emoji_id FROM reactions r
WHERE r.status_id = :status AND r.name = :name AND r.domain = :domain AND r.emoji_id IS NOT NULL
ORDER BY r.id
LIMIT 1;

-- name: insert returns: one
-- params: integer account, integer status, text name, text domain, integer emoji
INSERT INTO reactions (account_id, status_id, name, domain, emoji_id, created_at)
VALUES (:account, :status, :name, :domain, :emoji, {now})
RETURNING id;

-- name: delete returns: optional
-- params: integer account, integer status, text name, text domain
DELETE FROM reactions
WHERE status_id = :status AND account_id = :account AND name = :name AND domain = :domain
RETURNING id;

-- name: by_id returns: many
-- params: integers reactions
SELECT r.id, r.name, r.domain, r.emoji_id IS NOT NULL AS custom FROM reactions r WHERE r.id {in:reactions};

-- name: forget_statuses returns: exec
-- params: integers statuses
DELETE FROM reactions WHERE status_id {in:statuses};

-- After an account went with all it wrote.
-- name: forget_missing returns: exec
DELETE FROM reactions WHERE id IN (
    SELECT r.id FROM reactions r LEFT JOIN core_v1.statuses s ON s.id = r.status_id WHERE s.id IS NULL);

-- An emoji is gone; one that is only disabled keeps its reactions.
-- name: forget_emoji returns: many
-- params: integer emoji
DELETE FROM reactions
WHERE emoji_id = :emoji AND NOT EXISTS (SELECT 1 FROM core_v1.custom_emojis e WHERE e.id = :emoji)
RETURNING id, status_id;
