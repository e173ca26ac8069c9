-- The deck of an account, in its order.
-- name: deck returns: many max-rows: 256
-- params: integer account
SELECT e.name, e.url, e.static_url, e.width, e.height
FROM entries e
WHERE e.account_id = :account
ORDER BY e.position;

-- name: clear returns: exec
-- params: integer account
DELETE FROM entries WHERE account_id = :account;

-- name: append returns: exec
-- params: integer account, integer position, text name, text url, text static_url, integer width, integer height
INSERT INTO entries (account_id, position, name, url, static_url, width, height)
VALUES (:account, :position, :name, :url, :static_url, :width, :height);
