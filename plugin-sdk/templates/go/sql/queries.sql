-- name: items_of  returns: many
-- params: integer account
SELECT id, text FROM items WHERE account_id = :account ORDER BY id;

-- name: add  returns: one
-- params: integer account, text text
INSERT INTO items (account_id, text) VALUES (:account, :text) RETURNING id, text;
