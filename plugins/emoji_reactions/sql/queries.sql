-- The reactions to statuses that a viewer sees, in the order in which they were made; viewer 0 is nobody, who sees all.
-- name: few returns: many
-- params: integers statuses, integer viewer, integer most
SELECT r.status_id, r.account_id, r.name, r.domain, r.emoji_id IS NOT NULL AS custom, s.local AS local_author
FROM reactions r
JOIN core_v1.statuses s ON s.id = r.status_id
JOIN core_v1.accounts a ON a.id = r.account_id
WHERE r.status_id {in:statuses}
  AND (:viewer = 0 OR r.account_id = :viewer OR (
        NOT a.suspended AND NOT a.limited
        AND NOT EXISTS (SELECT 1 FROM core_v1.blocks b WHERE b.account_id = :viewer AND b.target_account_id = r.account_id)
        AND NOT EXISTS (SELECT 1 FROM core_v1.blocks b WHERE b.account_id = r.account_id AND b.target_account_id = :viewer)
        AND NOT EXISTS (SELECT 1 FROM core_v1.mutes m WHERE m.account_id = :viewer AND m.target_account_id = r.account_id
                        AND (m.expires_at IS NULL OR m.expires_at > {now}))
        AND NOT EXISTS (SELECT 1 FROM core_v1.account_domain_blocks d
                        WHERE d.account_id = :viewer AND d.domain = a.domain)))
ORDER BY r.status_id, r.id
LIMIT :most;

-- The same where they are many, by groups in the order of their first use.
-- Of each status as many rows as said, one of each group before the second of any: total counts the whole group.
-- name: shown returns: many max-rows: 5120
-- params: integers statuses, integer viewer, integer most
SELECT p.status_id, p.account_id, p.name, p.domain, p.custom, p.total, p.own, p.local_author
FROM (
    SELECT g.id, g.status_id, g.account_id, g.name, g.domain, g.custom, g.total, g.own, g.local_author, g.opened,
           ROW_NUMBER() OVER (PARTITION BY g.status_id ORDER BY g.nth, g.id) AS place
    FROM (
        SELECT r.id, r.status_id, r.account_id, r.name, r.domain, r.emoji_id IS NOT NULL AS custom,
               o.domain IS NULL AS local_author,
               COUNT(*) OVER (PARTITION BY r.status_id, r.name, r.domain) AS total,
               MIN(r.id) OVER (PARTITION BY r.status_id, r.name, r.domain) AS opened,
               MAX(CASE WHEN r.account_id = :viewer THEN 1 ELSE 0 END)
                   OVER (PARTITION BY r.status_id, r.name, r.domain) AS own,
               ROW_NUMBER() OVER (PARTITION BY r.status_id, r.name, r.domain ORDER BY r.id) AS nth
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
                AND NOT EXISTS (SELECT 1 FROM core_v1.account_domain_blocks d
                                WHERE d.account_id = :viewer AND d.domain = a.domain)))
    ) AS g
) AS p
WHERE p.place <= :most
ORDER BY p.status_id, p.opened, p.id;

-- Who reacted to a status with one emoji, and how many they are.
-- name: group_of returns: many
-- params: integer status, text name, text domain, integer most
SELECT r.account_id, COUNT(*) OVER () AS total
FROM reactions r
WHERE r.status_id = :status AND r.name = :name AND r.domain = :domain
ORDER BY r.id
LIMIT :most;

-- The status that a reaction to `status` is to: a reblog's original. Also one that the caller does not see any more.
-- name: original returns: optional
-- params: integer status
SELECT o.id, o.account_id, o.local
FROM core_v1.statuses s
JOIN core_v1.statuses o ON o.id = COALESCE(s.reblog_of_id, s.id)
WHERE s.id = :status;

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
RETURNING id, emoji_id;

-- name: by_id returns: many
-- params: integers reactions
SELECT r.id, r.name, r.domain, r.emoji_id IS NOT NULL AS custom FROM reactions r WHERE r.id {in:reactions};

-- name: forget_statuses returns: exec
-- params: integers statuses
DELETE FROM reactions WHERE status_id {in:statuses};

-- name: some returns: many
-- params: integer after, integer limit
SELECT r.id FROM reactions r WHERE r.id > :after ORDER BY r.id LIMIT :limit;

-- After an account went with all it wrote.
-- name: forget_missing returns: exec
-- params: integer after, integer last
DELETE FROM reactions
WHERE id > :after AND id <= :last
  AND NOT EXISTS (SELECT 1 FROM core_v1.statuses s WHERE s.id = reactions.status_id);

-- An emoji is gone; one that is only disabled keeps its reactions. A part at a time.
-- name: forget_emoji returns: many
-- params: integer emoji, integer limit
DELETE FROM reactions
WHERE id IN (SELECT r.id FROM reactions r WHERE r.emoji_id = :emoji LIMIT :limit)
  AND NOT EXISTS (SELECT 1 FROM core_v1.custom_emojis e WHERE e.id = :emoji)
RETURNING id, status_id;

-- How many people reacted to each status; accounts that moderators limited or suspended do not count.
-- name: reactors returns: many
-- params: integers statuses
SELECT r.status_id, COUNT(DISTINCT r.account_id) AS people
FROM reactions r
JOIN core_v1.accounts a ON a.id = r.account_id
WHERE r.status_id {in:statuses} AND NOT a.suspended AND NOT a.limited
GROUP BY r.status_id;

-- Of these statuses, those that the caller reacted to. Asked by the host alone, for the search and for automatic deletion.
-- name: reacted_among returns: many
-- params: integers statuses, integer caller
SELECT DISTINCT r.status_id AS id FROM reactions r WHERE r.status_id {in:statuses} AND r.account_id = :caller;

-- All statuses that the caller reacted to, newest status first. Asked by the host alone, for the search.
-- name: reacted_newest returns: page(status)
-- params: integer caller
SELECT DISTINCT r.status_id AS id FROM reactions r WHERE r.account_id = :caller AND {page:r.status_id};

-- Of these statuses, those with as many reactions. Asked by the host alone, for automatic deletion.
-- name: reacted_often returns: many
-- params: integers statuses, integer least
SELECT r.status_id AS id FROM reactions r WHERE r.status_id {in:statuses} GROUP BY r.status_id HAVING COUNT(*) >= :least;
