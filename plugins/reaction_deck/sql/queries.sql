-- name: deck returns: optional
-- params: integer account
SELECT d.entries FROM decks d WHERE d.account_id = :account;

-- name: replace returns: exec
-- params: integer account, text entries
INSERT INTO decks (account_id, entries) VALUES (:account, :entries)
ON CONFLICT (account_id) DO UPDATE SET entries = excluded.entries;
