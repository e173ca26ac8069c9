-- The antennas of an account: 30 at most, half a megabyte at most.
-- name: antennas returns: many
-- params: integer account
SELECT a.id, a.title, a.list_id, a.insert_feeds, a.stl, a.ltl, a.with_media_only, a.ignore_reblog, a.terms,
       (SELECT COUNT(*) FROM members m WHERE m.antenna_id = a.id AND NOT m.excluded) AS accounts_count,
       l.title AS list_title
FROM antennas a
LEFT JOIN core_v1.lists l ON l.id = a.list_id
WHERE a.account_id = :account
ORDER BY a.id;

-- name: antenna returns: optional
-- params: integer id, integer account
SELECT a.id, a.title, a.list_id, a.insert_feeds, a.stl, a.ltl, a.with_media_only, a.ignore_reblog, a.terms,
       (SELECT COUNT(*) FROM members m WHERE m.antenna_id = a.id AND NOT m.excluded) AS accounts_count,
       l.title AS list_title
FROM antennas a
LEFT JOIN core_v1.lists l ON l.id = a.list_id
WHERE a.id = :id AND a.account_id = :account;

-- Whether the antenna is the caller's; also what the host asks before it answers a route by itself.
-- name: owned returns: owner
-- params: integer id, integer caller
SELECT a.id FROM antennas a WHERE a.id = :id AND a.account_id = :caller;

-- Whether the list is the account's.
-- name: own_list returns: optional
-- params: integer list, integer account
SELECT l.id FROM core_v1.lists l WHERE l.id = :list AND l.account_id = :account;

-- The lists that an antenna of the account's may write to, for its page.
-- name: own_lists returns: many
-- params: integer account, integer limit
SELECT l.id, l.title FROM core_v1.lists l WHERE l.account_id = :account ORDER BY l.id LIMIT :limit;

-- The next version. Holds the row until the end of the transaction, so that versions become visible in their order.
-- name: next_version returns: one
UPDATE counters SET version = version + 1 WHERE id = 1 RETURNING version;

-- name: next_epoch returns: exec
UPDATE counters SET version = version + 1, epoch = epoch + 1 WHERE id = 1;

-- name: counters returns: one
SELECT c.version, c.epoch FROM counters c WHERE c.id = 1;

-- name: insert returns: one
-- params: integer account, text title, integer list, boolean insert_feeds, boolean stl, boolean ltl, boolean with_media_only, boolean ignore_reblog, integer version
INSERT INTO antennas (account_id, title, list_id, insert_feeds, stl, ltl, with_media_only, ignore_reblog, terms, version)
VALUES (:account, :title, :list, :insert_feeds, :stl, :ltl, :with_media_only, :ignore_reblog, '{}', :version)
RETURNING id;

-- name: update returns: exec
-- params: integer id, text title, integer list, boolean insert_feeds, boolean stl, boolean ltl, boolean with_media_only, boolean ignore_reblog, integer version
UPDATE antennas
SET title = :title, list_id = :list, insert_feeds = :insert_feeds, stl = :stl, ltl = :ltl,
    with_media_only = :with_media_only, ignore_reblog = :ignore_reblog, version = :version
WHERE id = :id;

-- name: set_terms returns: exec
-- params: integer id, text terms, integer version
UPDATE antennas SET terms = :terms, version = :version WHERE id = :id;

-- name: set_version returns: exec
-- params: integer id, integer version
UPDATE antennas SET version = :version WHERE id = :id;

-- name: delete returns: exec
-- params: integer id
DELETE FROM antennas WHERE id = :id;

-- name: note_removed returns: exec
-- params: integer id, integer version
INSERT INTO removed (antenna_id, version) VALUES (:id, :version)
ON CONFLICT (antenna_id) DO UPDATE SET version = excluded.version;

-- The accounts that an antenna lists. Answered by the host alone.
-- name: accounts_of returns: page(account)
-- params: integer id
SELECT m.account_id AS id
FROM members m
JOIN core_v1.accounts a ON a.id = m.account_id
WHERE m.antenna_id = :id AND NOT m.excluded AND NOT a.suspended AND {page:m.account_id};

-- The accounts that an antenna leaves out. Answered by the host alone.
-- name: excluded_accounts_of returns: page(account)
-- params: integer id
SELECT m.account_id AS id
FROM members m
JOIN core_v1.accounts a ON a.id = m.account_id
WHERE m.antenna_id = :id AND m.excluded AND NOT a.suspended AND {page:m.account_id};

-- The accounts on both sides of an antenna, for its page: those that are suspended too, so that they can be taken out.
-- name: named_members returns: many
-- params: integer antenna
SELECT m.excluded, a.id, a.username, a.domain, a.suspended
FROM members m
JOIN core_v1.accounts a ON a.id = m.account_id
WHERE m.antenna_id = :antenna
ORDER BY m.excluded, a.id;

-- name: add_member returns: exec
-- params: integer antenna, boolean excluded, integer member
INSERT INTO members (antenna_id, excluded, account_id) VALUES (:antenna, :excluded, :member);

-- name: count_members returns: one
-- params: integer antenna, boolean excluded
SELECT COUNT(*) AS count FROM members m WHERE m.antenna_id = :antenna AND m.excluded = :excluded;

-- name: remove_members returns: exec
-- params: integer antenna, boolean excluded, integers members
DELETE FROM members WHERE antenna_id = :antenna AND excluded = :excluded AND account_id {in:members};

-- The antennas of an account that list, or leave out, someone who is not suspended.
-- name: naming returns: many
-- params: integer account, integer member, boolean excluded
SELECT m.antenna_id AS id
FROM members m
JOIN antennas o ON o.id = m.antenna_id
JOIN core_v1.accounts a ON a.id = m.account_id
WHERE m.account_id = :member AND o.account_id = :account AND m.excluded = :excluded AND NOT a.suspended;

-- All antennas, a part at a time: what the index is built from.
-- name: everything returns: many
-- params: integer after, integer limit
SELECT a.id, a.account_id, a.list_id, a.insert_feeds, a.stl, a.ltl, a.with_media_only, a.ignore_reblog, a.terms, a.version
FROM antennas a
WHERE a.id > :after
ORDER BY a.id
LIMIT :limit;

-- Those that changed after a version, a part at a time.
-- name: changed returns: many
-- params: integer version, integer after, integer limit
SELECT a.id, a.account_id, a.list_id, a.insert_feeds, a.stl, a.ltl, a.with_media_only, a.ignore_reblog, a.terms, a.version
FROM antennas a
WHERE (a.version, a.id) > (:version, :after)
ORDER BY a.version, a.id
LIMIT :limit;

-- name: gone returns: many
-- params: integer version, integer after, integer limit
SELECT r.antenna_id AS id, r.version
FROM removed r
WHERE (r.version, r.antenna_id) > (:version, :after)
ORDER BY r.version, r.antenna_id
LIMIT :limit;

-- name: members_between returns: many
-- params: integer after, integer last, integer limit
SELECT m.antenna_id, m.excluded, m.account_id
FROM members m
WHERE m.antenna_id > :after AND m.antenna_id <= :last
ORDER BY m.antenna_id
LIMIT :limit;

-- name: members_of returns: many
-- params: integers antennas
SELECT m.antenna_id, m.excluded, m.account_id FROM members m WHERE m.antenna_id {in:antennas};

-- Those among owners of antennas who were here lately and may use the server.
-- name: awake returns: many max-rows: 10000
-- params: integers owners, integer since
SELECT a.id FROM core_v1.accounts a WHERE a.id {in:owners} AND NOT a.suspended AND a.last_active_at > :since;

-- name: ids_of returns: many
-- params: integer account
SELECT a.id FROM antennas a WHERE a.account_id = :account;

-- The antennas that write to lists.
-- name: writing_to returns: many
-- params: integers lists
SELECT a.list_id, a.id, a.title, a.stl
FROM antennas a
WHERE a.list_id {in:lists} AND a.list_id <> 0 AND a.insert_feeds
ORDER BY a.id;

-- A list went: what wrote to it writes home.
-- name: forget_list returns: exec
-- params: integer list, integer version
UPDATE antennas SET list_id = 0, version = :version WHERE list_id = :list AND list_id <> 0;

-- The antennas that list or leave out an account change.
-- name: change_naming returns: exec
-- params: integer account, integer version
UPDATE antennas SET version = :version
WHERE id IN (SELECT m.antenna_id FROM members m WHERE m.account_id = :account);

-- name: forget_member returns: exec
-- params: integer account
DELETE FROM members WHERE account_id = :account;

-- Antennas that list or leave out an account do the same with the account that it moved to.
-- name: name_target returns: exec
-- params: integer account, integer target
INSERT INTO members (antenna_id, excluded, account_id)
SELECT m.antenna_id, m.excluded, :target FROM members m WHERE m.account_id = :account
ON CONFLICT (antenna_id, excluded, account_id) DO NOTHING;

-- The antennas of owners who were not here lately: their feeds are dropped.
-- name: asleep returns: many
-- params: integer since, integer after, integer limit
SELECT a.id
FROM antennas a
JOIN core_v1.accounts o ON o.id = a.account_id
WHERE a.id > :after AND (o.last_active_at IS NULL OR o.last_active_at <= :since)
ORDER BY a.id
LIMIT :limit;

-- name: tidy_removed returns: exec
DELETE FROM removed;
