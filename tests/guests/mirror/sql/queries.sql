-- name: keep returns: exec
-- params: integer account, integer status
INSERT INTO kept (account_id, status_id) VALUES (:account, :status);

-- The paging id is that of the row: a status may be kept twice.
-- name: kept returns: page(status)
-- params: integer caller
SELECT k.status_id AS id, k.id AS page_id FROM kept k WHERE k.account_id = :caller AND {page:k.id};

-- name: kept_by returns: page(account)
-- params: integer id
SELECT k.account_id AS id, k.id AS page_id FROM kept k WHERE k.id >= :id AND {page:k.id};

-- Shelf 1 is the only one.
-- name: is_shelf returns: owner
-- params: integer id
SELECT 1 AS yes WHERE :id = 1;
