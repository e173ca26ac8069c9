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
