-- A window of accounts after one, of this server and of others: how many, and the last.
-- name: account_window returns: one
-- params: integer after, integer limit
SELECT COUNT(*) AS count, MAX(w.id) AS last
FROM (SELECT a.id FROM core_v1.accounts a WHERE a.id > :after ORDER BY a.id LIMIT :limit) w;

-- What the local accounts of a window did between two ids. No column of the counted rows is read, so that indexes suffice.
-- name: tally_window returns: many
-- params: integer after, integer last, integer since, integer until
SELECT a.id,
    (SELECT COUNT(*) FROM core_v1.statuses s WHERE s.account_id = a.id AND s.id >= :since AND s.id < :until) AS statuses,
    (SELECT COUNT(*) FROM core_v1.follows f WHERE f.target_account_id = a.id AND f.id >= :since AND f.id < :until)
        AS followers
FROM core_v1.accounts a
WHERE a.local AND a.id > :after AND a.id <= :last
ORDER BY a.id;

-- name: tally returns: exec
-- params: integer year, integer account, integer statuses, integer followers
INSERT INTO tallies (year, account_id, statuses, followers) VALUES (:year, :account, :statuses, :followers)
ON CONFLICT (year, account_id) DO UPDATE SET statuses = excluded.statuses, followers = excluded.followers;

-- Accounts that did nothing, maybe not any more.
-- name: forget_tallies returns: exec
-- params: integer year, integers accounts
DELETE FROM tallies WHERE year = :year AND account_id {in:accounts};

-- How many local accounts posted in a year.
-- name: active returns: one
-- params: integer year
SELECT COUNT(*) AS count FROM tallies t WHERE t.year = :year AND t.statuses > 0;

-- The next account that posted in a year and has no report of it.
-- name: next_account returns: optional
-- params: integer year, integer after
SELECT t.account_id AS id
FROM tallies t
JOIN core_v1.accounts a ON a.id = t.account_id
WHERE t.year = :year AND t.account_id > :after AND t.statuses > 0 AND NOT a.suspended
  AND NOT EXISTS (SELECT 1 FROM reports r WHERE r.account_id = t.account_id AND r.year = :year)
ORDER BY t.account_id
LIMIT 1;

-- How many local accounts did less in a year, and how many did anything.
-- name: standing returns: one
-- params: integer year, integer statuses, integer followers
SELECT
    (SELECT COUNT(*) FROM tallies t WHERE t.year = :year AND t.followers > 0 AND t.followers < :followers)
        AS fewer_followers,
    (SELECT COUNT(*) FROM tallies t WHERE t.year = :year AND t.followers > 0) AS any_followers,
    (SELECT COUNT(*) FROM tallies t WHERE t.year = :year AND t.statuses > 0 AND t.statuses < :statuses)
        AS fewer_statuses,
    (SELECT COUNT(*) FROM tallies t WHERE t.year = :year AND t.statuses > 0) AS any_statuses;

-- A window of an account's statuses between two ids: how many, and the last.
-- name: status_window returns: one
-- params: integer account, integer since, integer until, integer limit
SELECT COUNT(*) AS count, MAX(w.id) AS last
FROM (
    SELECT s.id FROM core_v1.statuses s
    WHERE s.account_id = :account AND s.id >= :since AND s.id < :until
    ORDER BY s.id
    LIMIT :limit
) w;

-- Of which kind the statuses of a window are, by whom they reply to; null: to nobody.
-- name: kinds returns: many
-- params: integer account, integer since, integer last
SELECT s.in_reply_to_account_id AS replied_to, COUNT(*) AS statuses, COUNT(s.reblog_of_id) AS reblogs,
    COUNT(CASE WHEN s.has_poll THEN 1 END) AS polls
FROM core_v1.statuses s
WHERE s.account_id = :account AND s.id >= :since AND s.id <= :last
GROUP BY s.in_reply_to_account_id;

-- Whom the reblogs of a window are of. The sign keeps SQLite from all reblogs of the account by their index.
-- name: reblogged returns: many
-- params: integer account, integer since, integer last
SELECT o.account_id AS id, COUNT(*) AS count
FROM core_v1.statuses s
JOIN core_v1.statuses o ON o.id = +s.reblog_of_id
WHERE s.account_id = :account AND s.id >= :since AND s.id <= :last
GROUP BY o.account_id;

-- name: applications returns: many
-- params: integer account, integer since, integer last
SELECT p.name, COUNT(*) AS count
FROM core_v1.status_applications p
WHERE p.account_id = :account AND p.status_id >= :since AND p.status_id <= :last
GROUP BY p.name;

-- The hashtags of a window, some after one at a time: a status may have many. Of each also how many public statuses have it,
-- and the newest of them.
-- name: hashtags returns: many
-- params: integer account, integer since, integer last, integer after, integer limit
SELECT st.tag_id AS id, COUNT(*) AS count, COUNT(CASE WHEN s.visibility = 'public' THEN 1 END) AS public_count,
    MAX(CASE WHEN s.visibility = 'public' THEN s.id END) AS newest_public
FROM core_v1.statuses s
JOIN core_v1.status_tags st ON st.status_id = s.id
WHERE s.account_id = :account AND s.id >= :since AND s.id <= :last AND +st.tag_id > :after
GROUP BY st.tag_id
ORDER BY st.tag_id
LIMIT :limit;

-- name: hashtag_names returns: many
-- params: integers tags
SELECT t.id, COALESCE(NULLIF(t.display_name, ''), t.name) AS name FROM core_v1.tags t WHERE t.id {in:tags};

-- name: most_reblogged returns: many
-- params: integer account, integer since, integer last
SELECT s.id, s.reblogs_count AS count FROM core_v1.statuses s
WHERE s.account_id = :account AND s.id >= :since AND s.id <= :last
  AND s.visibility = 'public' AND s.reblog_of_id IS NULL AND s.reblogs_count > 0
ORDER BY s.reblogs_count DESC, s.id DESC
LIMIT 1;

-- The second is for when the first is the most reblogged one.
-- name: most_favourited returns: many
-- params: integer account, integer since, integer last
SELECT s.id, s.favourites_count AS count FROM core_v1.statuses s
WHERE s.account_id = :account AND s.id >= :since AND s.id <= :last
  AND s.visibility = 'public' AND s.reblog_of_id IS NULL AND s.favourites_count > 0
ORDER BY s.favourites_count DESC, s.id DESC
LIMIT 2;

-- name: most_replied returns: many
-- params: integer account, integer since, integer last
SELECT s.id, s.replies_count AS count FROM core_v1.statuses s
WHERE s.account_id = :account AND s.id >= :since AND s.id <= :last
  AND s.visibility = 'public' AND s.reblog_of_id IS NULL AND s.replies_count > 0
ORDER BY s.replies_count DESC, s.id DESC
LIMIT 3;

-- name: followers_gained returns: one
-- params: integer account, integer since, integer until
SELECT COUNT(*) AS count FROM core_v1.follows f
WHERE f.target_account_id = :account AND f.id >= :since AND f.id < :until;

-- name: following_gained returns: one
-- params: integer account, integer since, integer until
SELECT COUNT(*) AS count FROM core_v1.follows f WHERE f.account_id = :account AND f.id >= :since AND f.id < :until;

-- name: is_made returns: one
-- params: integer account, integer year
SELECT COUNT(*) AS count FROM reports r WHERE r.account_id = :account AND r.year = :year;

-- name: keep returns: exec
-- params: integer account, integer year, integer version, text data, text public_hashtags, text key
INSERT INTO reports (account_id, year, schema_version, data, public_hashtags, share_key, created_at)
VALUES (:account, :year, :version, :data, :public_hashtags, :key, {now})
ON CONFLICT (account_id, year) DO NOTHING;

-- Whether an account posted between two ids.
-- name: posted returns: one
-- params: integer account, integer since, integer until
SELECT COUNT(*) AS count
FROM (SELECT s.id FROM core_v1.statuses s WHERE s.account_id = :account AND s.id >= :since AND s.id < :until LIMIT 1) one;

-- Whether a report was asked for since then, and is not made yet.
-- name: is_requested returns: one
-- params: integer account, integer year, integer since
SELECT COUNT(*) AS count FROM requests q
WHERE q.account_id = :account AND q.year = :year AND q.requested_at >= :since;

-- name: request returns: exec
-- params: integer account, integer year
INSERT INTO requests (account_id, year, requested_at) VALUES (:account, :year, {now})
ON CONFLICT (account_id, year) DO UPDATE SET requested_at = excluded.requested_at;

-- name: forget_request returns: exec
-- params: integer account, integer year
DELETE FROM requests WHERE account_id = :account AND year = :year;

-- name: is_counted returns: one
-- params: integer year
SELECT COUNT(*) AS count FROM counted_years c WHERE c.year = :year;

-- name: set_counted returns: exec
-- params: integer year
INSERT INTO counted_years (year) VALUES (:year) ON CONFLICT (year) DO NOTHING;

-- The reports of an account that were not read yet, newest first.
-- name: unread returns: many
-- params: integer account
SELECT r.year, r.schema_version, r.data, r.share_key FROM reports r
WHERE r.account_id = :account AND r.viewed_at IS NULL
ORDER BY r.year DESC;

-- The reports of an account, read or not, for its page.
-- name: reports returns: many
-- params: integer account, integer limit
SELECT r.year, r.schema_version, r.data, r.share_key FROM reports r
WHERE r.account_id = :account
ORDER BY r.year DESC
LIMIT :limit;

-- name: report returns: optional
-- params: integer account, integer year
SELECT r.year, r.schema_version, r.data, r.share_key FROM reports r
WHERE r.account_id = :account AND r.year = :year;

-- For a report without a key. One that has its key keeps it.
-- name: give_key returns: exec
-- params: integer account, integer year, text key
UPDATE reports SET share_key = :key WHERE account_id = :account AND year = :year AND share_key IS NULL;

-- name: share_key returns: optional
-- params: integer account, integer year
SELECT r.share_key FROM reports r WHERE r.account_id = :account AND r.year = :year;

-- The report of a link.
-- name: shared returns: optional
-- params: integer year, text key
SELECT r.account_id, r.data, r.public_hashtags FROM reports r WHERE r.share_key = :key AND r.year = :year;

-- name: mark_read returns: exec
-- params: integer account, integer year
UPDATE reports SET viewed_at = {now} WHERE account_id = :account AND year = :year;
