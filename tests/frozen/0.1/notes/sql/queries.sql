-- name: notes_of  returns: many
-- params: integer account
SELECT target_id, text FROM notes WHERE account_id = :account ORDER BY target_id;

-- name: note  returns: optional
-- params: integer account, integer target
SELECT text FROM notes WHERE account_id = :account AND target_id = :target;

-- name: save  returns: exec
-- params: integer account, integer target, text text
INSERT INTO notes (account_id, target_id, text) VALUES (:account, :target, :text)
ON CONFLICT (account_id, target_id) DO UPDATE SET text = excluded.text;

-- name: forget  returns: exec
-- params: integer account, integer target
DELETE FROM notes WHERE account_id = :account AND target_id = :target;
