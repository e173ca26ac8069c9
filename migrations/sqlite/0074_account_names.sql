-- What accounts are found by: the user name, and the display name from each of its words on, in lower case. rank: how many digits
-- the number of followers has, at most 6, so that those whom most people follow are found first.
CREATE TABLE account_names (
    rank INTEGER NOT NULL,
    name TEXT NOT NULL,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (rank, name, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX account_names_account ON account_names (account_id, name);

INSERT INTO account_names (rank, name, account_id)
SELECT CASE WHEN a.followers_count < 1 THEN 0 WHEN a.followers_count < 10 THEN 1 WHEN a.followers_count < 100 THEN 2
                WHEN a.followers_count < 1000 THEN 3 WHEN a.followers_count < 10000 THEN 4 WHEN a.followers_count < 100000 THEN 5
                ELSE 6 END, n.name, n.id
FROM (
    SELECT id, lower(username) AS name FROM accounts
    UNION SELECT id, substr(search_name, 1, 100) FROM accounts
    UNION SELECT id, substr(CASE WHEN instr(search_name, ' ') > 0 THEN substr(search_name, instr(search_name, ' ') + 1) ELSE '' END, 1, 100) FROM accounts
    UNION SELECT w.id, substr(CASE WHEN instr(w.rest, ' ') > 0 THEN substr(w.rest, instr(w.rest, ' ') + 1) ELSE '' END, 1, 100)
          FROM (SELECT id, CASE WHEN instr(search_name, ' ') > 0 THEN substr(search_name, instr(search_name, ' ') + 1) ELSE '' END AS rest FROM accounts) w
) n
JOIN accounts a ON a.id = n.id
WHERE n.name <> '';

DROP INDEX accounts_search_name;
ALTER TABLE accounts DROP COLUMN search_name;
