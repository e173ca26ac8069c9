-- The categories of an account, oldest first.
-- name: categories returns: many
-- params: integer account
SELECT c.id, c.title FROM categories c WHERE c.account_id = :account ORDER BY c.id;

-- name: category returns: optional
-- params: integer id, integer account
SELECT c.id, c.title FROM categories c WHERE c.id = :id AND c.account_id = :account;

-- Whether the category is the caller's; also what the host asks before it answers `statuses_of`.
-- name: owned returns: owner
-- params: integer id, integer caller
SELECT c.id FROM categories c WHERE c.id = :id AND c.account_id = :caller;

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

-- name: status_exists returns: optional
-- params: integer status
SELECT s.id FROM core_v1.statuses s WHERE s.id = :status;

-- A bookmark went: so does the status, from all categories of its owner. What was filed anew since then stays.
-- name: forget_bookmark returns: exec
-- params: integer account, integer status, integer at
DELETE FROM entries WHERE status_id = :status AND account_id = :account AND filed_at <= :at;

-- name: forget_statuses returns: exec
-- params: integers statuses
DELETE FROM entries WHERE status_id {in:statuses};

-- After an account went with all it wrote.
-- name: forget_missing returns: exec
DELETE FROM entries WHERE status_id IN (
    SELECT e.status_id FROM entries e LEFT JOIN core_v1.statuses s ON s.id = e.status_id WHERE s.id IS NULL);
