-- The circles of an account, oldest first.
-- name: circles returns: many
-- params: integer account
SELECT c.id, c.title FROM circles c WHERE c.account_id = :account ORDER BY c.id;

-- The same, with how many are in each.
-- name: counted returns: many
-- params: integer account
SELECT c.id, c.title,
    (SELECT COUNT(*) FROM members m JOIN core_v1.follows f ON f.id = m.follow_id WHERE m.circle_id = c.id) AS members
FROM circles c WHERE c.account_id = :account ORDER BY c.id;

-- Who is in a circle, by name. A part at a time.
-- name: named_members returns: many
-- params: integer circle, integer after, integer limit
SELECT a.id, a.username, a.domain
FROM members m
JOIN core_v1.follows f ON f.id = m.follow_id
JOIN core_v1.accounts a ON a.id = m.member_id
WHERE m.circle_id = :circle AND m.member_id > :after
ORDER BY m.member_id
LIMIT :limit;

-- name: circle returns: optional
-- params: integer id, integer account
SELECT c.id, c.title FROM circles c WHERE c.id = :id AND c.account_id = :account;

-- Whether the circle is the caller's; also what the host asks before it answers a route by itself.
-- name: owned returns: owner
-- params: integer id, integer caller
SELECT c.id FROM circles c WHERE c.id = :id AND c.account_id = :caller;

-- name: owner_of returns: optional
-- params: integer id
SELECT c.account_id FROM circles c WHERE c.id = :id;

-- Requests of one account that make circles or add to them stand one after the other: this row is held until the end of the
-- transaction.
-- name: hold_owner returns: exec
-- params: integer account
INSERT INTO owners (account_id) VALUES (:account)
ON CONFLICT (account_id) DO UPDATE SET account_id = excluded.account_id;

-- name: count returns: one
-- params: integer account
SELECT COUNT(*) AS count FROM circles c WHERE c.account_id = :account;

-- name: create returns: one
-- params: integer account, text title
INSERT INTO circles (account_id, title) VALUES (:account, :title) RETURNING id, title;

-- name: rename returns: optional
-- params: integer id, integer account, text title
UPDATE circles SET title = :title WHERE id = :id AND account_id = :account RETURNING id, title;

-- name: delete returns: exec
-- params: integer id, integer account
DELETE FROM circles WHERE id = :id AND account_id = :account;

-- The members of a circle. Answered by the host alone.
-- name: members_of returns: page(account)
-- params: integer id
SELECT m.member_id AS id
FROM members m
JOIN core_v1.follows f ON f.id = m.follow_id
JOIN core_v1.accounts a ON a.id = m.member_id
WHERE m.circle_id = :id AND NOT a.suspended AND {page:m.member_id};

-- Whom a post to the circle reaches: its members, suspended ones as well, since they may come back. A part at a time.
-- name: audience returns: many
-- params: integer circle, integer after, integer limit
SELECT m.member_id AS id
FROM members m
JOIN core_v1.follows f ON f.id = m.follow_id
WHERE m.circle_id = :circle AND m.member_id > :after
ORDER BY m.member_id
LIMIT :limit;

-- Adds those who follow the circle's owner.
-- name: add returns: exec
-- params: integer circle, integer account, integers accounts
INSERT INTO members (circle_id, member_id, account_id, follow_id)
SELECT :circle, f.account_id, f.target_account_id, f.id
FROM core_v1.follows f
WHERE f.target_account_id = :account AND f.account_id {in:accounts};

-- name: count_members returns: one
-- params: integer circle
SELECT COUNT(*) AS count FROM members m WHERE m.circle_id = :circle;

-- name: remove returns: exec
-- params: integer circle, integers members
DELETE FROM members WHERE circle_id = :circle AND member_id {in:members};

-- Members of a circle whose follow ended while nobody told this plugin.
-- name: remove_ended returns: exec
-- params: integer circle, integers members
DELETE FROM members
WHERE circle_id = :circle AND member_id {in:members}
  AND NOT EXISTS (SELECT 1 FROM core_v1.follows f WHERE f.id = members.follow_id);

-- A follow ended: so does the membership in all circles of its owner. One by a later follow stays.
-- name: forget_member returns: exec
-- params: integer account, integer member
DELETE FROM members
WHERE account_id = :account AND member_id = :member
  AND NOT EXISTS (SELECT 1 FROM core_v1.follows f WHERE f.id = members.follow_id);

-- The circles of an account that someone who is not suspended is in.
-- name: holding returns: many
-- params: integer account, integer member
SELECT c.id, c.title
FROM members m
JOIN circles c ON c.id = m.circle_id
JOIN core_v1.follows f ON f.id = m.follow_id
JOIN core_v1.accounts a ON a.id = m.member_id
WHERE m.account_id = :account AND m.member_id = :member AND NOT a.suspended
ORDER BY c.id;

-- What was posted to a circle, newest first. Answered by the host alone.
-- name: statuses_of returns: page(status)
-- params: integer id
SELECT e.status_id AS id FROM entries e WHERE e.circle_id = :id AND {page:e.status_id};

-- Circles among some, with their owners.
-- name: known returns: many
-- params: integers circles
SELECT c.id, c.account_id FROM circles c WHERE c.id {in:circles};

-- name: enter returns: exec
-- params: integer circle, integer status, integer account
INSERT INTO entries (circle_id, status_id, account_id) VALUES (:circle, :status, :account)
ON CONFLICT (circle_id, status_id) DO NOTHING;

-- name: forget_statuses returns: exec
-- params: integers statuses
DELETE FROM entries WHERE status_id {in:statuses};
