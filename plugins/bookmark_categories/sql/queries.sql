-- The categories of an account, oldest first.
-- name: categories returns: many
-- params: integer account
SELECT c.id, c.title FROM categories c WHERE c.account_id = :account ORDER BY c.id;

-- The same, with how much is filed in each.
-- name: counted returns: many
-- params: integer account
SELECT c.id, c.title, (SELECT COUNT(*) FROM entries e WHERE e.category_id = c.id) AS entries
FROM categories c WHERE c.account_id = :account ORDER BY c.id;

-- name: category returns: optional
-- params: integer id, integer account
SELECT c.id, c.title FROM categories c WHERE c.id = :id AND c.account_id = :account;

-- Whether the category is the caller's; also what the host asks before it answers `statuses_of`.
-- name: owned returns: owner
-- params: integer id, integer caller
SELECT c.id FROM categories c WHERE c.id = :id AND c.account_id = :caller;

-- Requests of one account that make categories stand one after the other: this row is held until the end of the
-- transaction.
-- name: hold_owner returns: exec
-- params: integer account
INSERT INTO owners (account_id) VALUES (:account)
ON CONFLICT (account_id) DO UPDATE SET account_id = excluded.account_id;

-- name: count returns: one
-- params: integer account
SELECT COUNT(*) AS count FROM categories c WHERE c.account_id = :account;

-- name: create returns: one
-- params: integer account, text title
INSERT INTO categories (account_id, title) VALUES (:account, :title) RETURNING id, title;

-- name: rename returns: optional
-- params: integer id, integer account, text title
UPDATE categories SET title = :title WHERE id = :id AND account_id = :account RETURNING id, title;

-- name: delete returns: exec
-- params: integer id, integer account
DELETE FROM categories WHERE id = :id AND account_id = :account;

-- What is filed in a category, newest status first. Whether the caller may see a status is the host's question.
-- name: statuses_of returns: page(status)
-- params: integer id
SELECT e.status_id AS id
FROM entries e
WHERE e.category_id = :id AND {page:e.status_id};

-- name: file returns: exec
-- params: integer category, integer account, integer status
INSERT INTO entries (category_id, account_id, status_id, filed_at) VALUES (:category, :account, :status, {now});

-- name: unfile returns: exec
-- params: integer category, integers statuses
DELETE FROM entries WHERE category_id = :category AND status_id {in:statuses};

-- The categories of an account that hold a status.
-- name: holding returns: many
-- params: integer account, integer status
SELECT c.id, c.title
FROM entries e
JOIN categories c ON c.id = e.category_id
WHERE e.status_id = :status AND e.account_id = :account
ORDER BY c.id;

-- What is filed for statuses, also for those that the caller does not see any more: a reblog's original.
-- name: originals returns: many
-- params: integers statuses
SELECT COALESCE(s.reblog_of_id, s.id) AS id FROM core_v1.statuses s WHERE s.id {in:statuses};

-- A bookmark went: so does the status, from all categories of its owner. What was filed anew since then stays.
-- name: forget_bookmark returns: exec
-- params: integer account, integer status, integer at
DELETE FROM entries WHERE status_id = :status AND account_id = :account AND filed_at <= :at;

-- name: forget_statuses returns: exec
-- params: integers statuses
DELETE FROM entries WHERE status_id {in:statuses};

-- The statuses of entries, a part at a time.
-- name: filed returns: many
-- params: integer after, integer limit
SELECT DISTINCT e.status_id AS id FROM entries e WHERE e.status_id > :after ORDER BY e.status_id LIMIT :limit;

-- After an account went with all it wrote.
-- name: forget_missing returns: exec
-- params: integer after, integer last
DELETE FROM entries
WHERE status_id > :after AND status_id <= :last
  AND NOT EXISTS (SELECT 1 FROM core_v1.statuses s WHERE s.id = entries.status_id);

-- Of these statuses, those that the caller filed. Asked by the host alone, for the search and for automatic deletion.
-- name: filed_among returns: many
-- params: integers statuses, integer caller
SELECT DISTINCT e.status_id AS id FROM entries e WHERE e.status_id {in:statuses} AND e.account_id = :caller;

-- All statuses that the caller filed, newest status first. Asked by the host alone, for the search.
-- name: filed_newest returns: page(status)
-- params: integer caller
SELECT DISTINCT e.status_id AS id FROM entries e WHERE e.account_id = :caller AND {page:e.status_id};
