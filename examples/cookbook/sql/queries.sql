-- name: shelves_of  returns: many
-- params: integer account
SELECT id, title FROM shelves WHERE account_id = :account AND {page:id} ORDER BY id DESC LIMIT :limit;

-- name: hold_owner  returns: exec
-- params: integer account
INSERT INTO owners (account_id) VALUES (:account)
ON CONFLICT (account_id) DO UPDATE SET account_id = excluded.account_id;

-- name: count_shelves  returns: one
-- params: integer account
SELECT COUNT(*) FROM shelves WHERE account_id = :account;

-- name: add_shelf  returns: one
-- params: integer account, text title
INSERT INTO shelves (account_id, title) VALUES (:account, :title) RETURNING id, title;

-- name: shelf  returns: optional
-- params: integer id, integer account
SELECT id, title FROM shelves WHERE id = :id AND account_id = :account;

-- name: put_on_shelf  returns: exec
-- params: integer shelf, integer status
INSERT INTO shelved (shelf_id, status_id) VALUES (:shelf, :status)
ON CONFLICT (shelf_id, status_id) DO NOTHING;

-- name: statuses_on  returns: page(status)
-- params: integer shelf
SELECT s.id FROM shelved x JOIN core_v1.statuses s ON s.id = x.status_id
WHERE x.shelf_id = :shelf AND {page:s.id} ORDER BY s.id DESC LIMIT :limit;

-- name: shelved_counts  returns: many
-- params: integers statuses
SELECT status_id, COUNT(*) AS count FROM shelved WHERE status_id {in:statuses} GROUP BY status_id;

-- name: tally  returns: one
-- params: integer account, integer by
INSERT INTO tallies (account_id, statuses) VALUES (:account, :by)
ON CONFLICT (account_id) DO UPDATE SET statuses = tallies.statuses + excluded.statuses
RETURNING statuses;

-- name: recount  returns: exec
INSERT INTO tallies (account_id, statuses)
SELECT account_id, COUNT(*) FROM core_v1.statuses WHERE local = TRUE GROUP BY account_id
ON CONFLICT (account_id) DO UPDATE SET statuses = excluded.statuses;

-- name: sweep  returns: exec
DELETE FROM shelved WHERE NOT EXISTS (SELECT 1 FROM core_v1.statuses s WHERE s.id = shelved.status_id);

-- name: set_link  returns: exec
-- params: integer shelf, text secret
INSERT INTO links (shelf_id, secret, visits) VALUES (:shelf, :secret, 0)
ON CONFLICT (shelf_id) DO UPDATE SET secret = excluded.secret, visits = 0;

-- name: linked_shelf  returns: optional
-- params: text secret
SELECT shelf_id FROM links WHERE secret = :secret;

-- name: count_visit  returns: exec
-- params: integer shelf
UPDATE links SET visits = visits + 1 WHERE shelf_id = :shelf;

-- name: count_day  returns: exec
INSERT INTO daily_visits (day, visits) VALUES ({now} / 86400000, 1)
ON CONFLICT (day) DO UPDATE SET visits = daily_visits.visits + 1;

-- name: written_by  returns: many  max-rows: 100
-- params: integer account, integer shelf
SELECT s.id FROM shelved x JOIN core_v1.statuses s ON s.id = x.status_id
WHERE x.shelf_id = :shelf AND s.account_id = :account ORDER BY s.id DESC LIMIT 100;

-- name: set_announcement  returns: exec
-- params: integer shelf, integer status
INSERT INTO announcements (shelf_id, status_id) VALUES (:shelf, :status)
ON CONFLICT (shelf_id) DO UPDATE SET status_id = excluded.status_id;

-- name: forget_announcement  returns: optional
-- params: integer shelf
DELETE FROM announcements WHERE shelf_id = :shelf RETURNING status_id;

-- name: photos_tagged  returns: many  max-rows: 100
-- params: texts tags
SELECT DISTINCT s.id FROM core_v1.status_tags t JOIN core_v1.statuses s ON s.id = t.status_id
WHERE t.name {in:tags} AND s.visibility = 'public' AND s.has_media = TRUE AND s.reblog_of_id IS NULL
ORDER BY s.id DESC LIMIT 100;

-- name: mark_stale  returns: exec
-- params: integer account
INSERT INTO stale_audiences (account_id) VALUES (:account) ON CONFLICT (account_id) DO NOTHING;

-- name: take_stale  returns: many
DELETE FROM stale_audiences
WHERE account_id IN (SELECT s.account_id FROM stale_audiences s ORDER BY s.account_id LIMIT 100)
RETURNING account_id;

-- name: measure  returns: exec
-- params: integers accounts
INSERT INTO audiences (account_id, servers)
SELECT a.id, COUNT(DISTINCT f.domain) FROM core_v1.accounts a
LEFT JOIN core_v1.follows x ON x.target_account_id = a.id
LEFT JOIN core_v1.accounts f ON f.id = x.account_id
WHERE a.id {in:accounts} GROUP BY a.id
ON CONFLICT (account_id) DO UPDATE SET servers = excluded.servers;

-- name: audience  returns: optional
-- params: integer account
SELECT servers FROM audiences WHERE account_id = :account;

-- name: set_look  returns: exec
-- params: integer id, integer account, json look
UPDATE shelves SET look = :look WHERE id = :id AND account_id = :account;

-- name: look  returns: optional
-- params: integer id, integer account
SELECT look FROM shelves WHERE id = :id AND account_id = :account;

-- name: delete_shelf  returns: exec
-- params: integer id, integer account
DELETE FROM shelves WHERE id = :id AND account_id = :account;

-- name: shelved_among  returns: many
-- params: integers statuses, integer caller
SELECT DISTINCT x.status_id AS id FROM shelved x JOIN shelves s ON s.id = x.shelf_id
WHERE x.status_id {in:statuses} AND s.account_id = :caller;

-- name: shelved_newest  returns: page(status)
-- params: integer caller
SELECT DISTINCT x.status_id AS id FROM shelves s JOIN shelved x ON x.shelf_id = s.id
WHERE s.account_id = :caller AND {page:x.status_id};
