-- name: items_of  returns: many
-- params: integer account
SELECT id, text FROM items WHERE account_id = :account ORDER BY id;

-- name: add  returns: one
-- params: integer account, text text
INSERT INTO items (id, account_id, text)
VALUES ((SELECT COALESCE(MAX(id), 0) + 1 FROM items), :account, :text)
RETURNING id, text;
