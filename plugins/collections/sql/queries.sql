-- A collection that the viewer may read. owner_uri: the owner's ActivityPub id, from which addresses are made.
-- name: collection returns: optional
-- params: integer id, integer viewer
SELECT c.id, c.account_id, c.uri, c.name, c.description, c.language, c.tag, c.sensitive, c.discoverable,
    c.created_at, c.updated_at, a.uri AS owner_uri
FROM collections c
JOIN core_v1.accounts a ON a.id = c.account_id
WHERE c.id = :id AND NOT a.suspended
  AND NOT EXISTS (SELECT 1 FROM core_v1.blocks b WHERE b.account_id = c.account_id AND b.target_account_id = :viewer);

-- The collections of an account, newest first. Unlisted ones are for their owner alone.
-- name: collections_of returns: many
-- params: integer account, integer viewer
SELECT c.id, c.account_id, c.uri, c.name, c.description, c.language, c.tag, c.sensitive, c.discoverable,
    c.created_at, c.updated_at, a.uri AS owner_uri
FROM collections c
JOIN core_v1.accounts a ON a.id = c.account_id
WHERE c.account_id = :account AND NOT a.suspended AND (c.discoverable OR c.account_id = :viewer)
  AND NOT EXISTS (SELECT 1 FROM core_v1.blocks b WHERE b.account_id = c.account_id AND b.target_account_id = :viewer)
  AND {page:c.id}
ORDER BY c.id DESC
LIMIT :limit;

-- The collections that list an account, newest first, also unlisted ones: for that account alone.
-- name: collections_with returns: many
-- params: integer account
SELECT c.id, c.account_id, c.uri, c.name, c.description, c.language, c.tag, c.sensitive, c.discoverable,
    c.created_at, c.updated_at, a.uri AS owner_uri
FROM items i
JOIN collections c ON c.id = i.collection_id
JOIN core_v1.accounts a ON a.id = c.account_id
WHERE i.account_id = :account AND i.state = 'accepted' AND NOT a.suspended
  AND NOT EXISTS (SELECT 1 FROM core_v1.blocks b WHERE b.account_id = i.owner_id AND b.target_account_id = i.account_id)
  AND NOT EXISTS (SELECT 1 FROM core_v1.blocks b WHERE b.account_id = i.account_id AND b.target_account_id = i.owner_id)
  AND {page:i.collection_id}
ORDER BY i.collection_id DESC
LIMIT :limit;

-- Collections that the viewer may read, for notifications.
-- name: collections_by_id returns: many
-- params: integers ids, integer viewer
SELECT c.id, c.account_id, c.uri, c.name, c.description, c.language, c.tag, c.sensitive, c.discoverable,
    c.created_at, c.updated_at, a.uri AS owner_uri
FROM collections c
JOIN core_v1.accounts a ON a.id = c.account_id
WHERE c.id {in:ids} AND NOT a.suspended
  AND NOT EXISTS (SELECT 1 FROM core_v1.blocks b WHERE b.account_id = c.account_id AND b.target_account_id = :viewer);

-- The items that a viewer sees, in the order in which they were added. Left out are accounts that the viewer blocks, blocks
-- between the owner and the account that the plugin was not told about, and accounts that are not discoverable any more:
-- those are shown to the owner, as pending, and to themselves.
-- name: items_in returns: many
-- params: integers collections, integer viewer
SELECT i.id, i.collection_id, i.account_id, i.created_at, COALESCE(a.discoverable, FALSE) AS consents
FROM items i
JOIN core_v1.accounts a ON a.id = i.account_id
WHERE i.collection_id {in:collections} AND i.state = 'accepted' AND NOT a.suspended
  AND (a.discoverable OR i.owner_id = :viewer OR i.account_id = :viewer)
  AND NOT EXISTS (SELECT 1 FROM core_v1.blocks b WHERE b.account_id = :viewer AND b.target_account_id = i.account_id)
  AND NOT EXISTS (SELECT 1 FROM core_v1.blocks b WHERE b.account_id = i.owner_id AND b.target_account_id = i.account_id)
  AND NOT EXISTS (SELECT 1 FROM core_v1.blocks b WHERE b.account_id = i.account_id AND b.target_account_id = i.owner_id)
ORDER BY i.id;

-- name: owner_of returns: optional
-- params: integer id
SELECT c.account_id FROM collections c WHERE c.id = :id;

-- Requests of one account that change its collections wait for each other: this row is locked until the transaction ends.
-- name: hold_owner returns: exec
-- params: integer account
INSERT INTO owners (account_id) VALUES (:account)
ON CONFLICT (account_id) DO UPDATE SET account_id = excluded.account_id;

-- name: count returns: one
-- params: integer account
SELECT COUNT(*) AS count FROM collections c WHERE c.account_id = :account;

-- Names of an account's collections, with how many accounts each lists.
-- name: counted returns: many
-- params: integer account
SELECT c.id, c.name,
    (SELECT COUNT(*) FROM items i JOIN core_v1.accounts a ON a.id = i.account_id
     WHERE i.collection_id = c.id AND i.state = 'accepted' AND NOT a.suspended) AS items
FROM collections c WHERE c.account_id = :account ORDER BY c.id;

-- name: create returns: one
-- params: integer account, text name, text description, text language, text tag, boolean sensitive, boolean discoverable
INSERT INTO collections (account_id, name, description, language, tag, sensitive, discoverable, created_at, updated_at)
VALUES (:account, :name, :description, :language, :tag, :sensitive, :discoverable, {now}, {now})
RETURNING id;

-- name: update returns: exec
-- params: integer id, integer account, text name, text description, text language, text tag
-- params: boolean sensitive, boolean discoverable
UPDATE collections
SET name = :name, description = :description, language = :language, tag = :tag, sensitive = :sensitive,
    discoverable = :discoverable, updated_at = {now}
WHERE id = :id AND account_id = :account;

-- name: delete returns: exec
-- params: integer id, integer account
DELETE FROM collections WHERE id = :id AND account_id = :account;

-- What is stored of these accounts in a collection, also of those that withdrew.
-- name: stored_items returns: many
-- params: integer collection, integers accounts
SELECT i.account_id, i.state FROM items i WHERE i.collection_id = :collection AND i.account_id {in:accounts};

-- Accounts that are gone or suspended take no place.
-- name: count_items returns: one
-- params: integer collection
SELECT COUNT(*) AS count
FROM items i
JOIN core_v1.accounts a ON a.id = i.account_id
WHERE i.collection_id = :collection AND i.state = 'accepted' AND NOT a.suspended;

-- Adds an account that allows it: a local one that is discoverable and, if it approves its followers, has the owner among
-- them.
-- name: add returns: exec
-- params: integer collection, integer owner, integer account
INSERT INTO items (collection_id, owner_id, account_id, state, created_at)
SELECT c.id, c.account_id, a.id, 'accepted', {now}
FROM core_v1.accounts a
JOIN collections c ON c.id = :collection
WHERE a.id = :account AND a.local AND a.discoverable AND NOT a.suspended
  AND (NOT a.locked OR a.id = :owner
    OR EXISTS (SELECT 1 FROM core_v1.follows f WHERE f.account_id = :owner AND f.target_account_id = a.id))
  AND NOT EXISTS (SELECT 1 FROM core_v1.blocks b WHERE b.account_id = :owner AND b.target_account_id = a.id)
  AND NOT EXISTS (SELECT 1 FROM core_v1.blocks b WHERE b.account_id = a.id AND b.target_account_id = :owner);

-- name: added returns: many
-- params: integer collection, integers accounts
SELECT i.id, i.account_id FROM items i
WHERE i.collection_id = :collection AND i.account_id {in:accounts} AND i.state = 'accepted'
ORDER BY i.id;

-- Whom to notify of a change of a collection.
-- name: listed_in returns: many
-- params: integer collection
SELECT i.id, i.account_id FROM items i
WHERE i.collection_id = :collection AND i.state = 'accepted'
ORDER BY i.id;

-- name: remove returns: exec
-- params: integer id, integer collection
DELETE FROM items WHERE id = :id AND collection_id = :collection AND state = 'accepted';

-- name: listed_account returns: optional
-- params: integer id, integer collection
SELECT i.account_id FROM items i WHERE i.id = :id AND i.collection_id = :collection AND i.state = 'accepted';

-- name: own_item returns: optional
-- params: integer collection, integer account
SELECT i.id FROM items i WHERE i.collection_id = :collection AND i.account_id = :account AND i.state = 'accepted';

-- name: revoke returns: exec
-- params: integer id, integer account
UPDATE items SET state = 'revoked' WHERE id = :id AND account_id = :account;

-- The items of an owner that list an account, when one of the two blocks the other. Who withdrew stays withdrawn.
-- name: forget_pair returns: many
-- params: integer owner, integer account
DELETE FROM items WHERE owner_id = :owner AND account_id = :account AND state = 'accepted' RETURNING id;

-- The collections that notifications of these items are about.
-- name: collections_of_items returns: many
-- params: integers items
SELECT i.id, i.collection_id FROM items i WHERE i.id {in:items};

-- name: forget_listed returns: exec
-- params: integers accounts
DELETE FROM items WHERE account_id {in:accounts};

-- What accounts allow, for their entities.
-- name: policies returns: many
-- params: integers accounts
SELECT a.id, a.local, COALESCE(a.discoverable, FALSE) AND NOT a.suspended AS discoverable, a.locked
FROM core_v1.accounts a WHERE a.id {in:accounts};
