-- uri: the ActivityPub id of a collection of another server; NULL for local ones, whose id follows from their owner's.
-- tag: a normalised hashtag without its sign.
CREATE TABLE collections (
    id integer PRIMARY KEY,
    account_id integer NOT NULL,
    uri text,
    name text NOT NULL,
    description text NOT NULL,
    language text,
    tag text,
    sensitive boolean NOT NULL,
    discoverable boolean NOT NULL,
    created_at integer NOT NULL,
    updated_at integer NOT NULL
);
CREATE INDEX collections_account ON collections (account_id, id);
CREATE UNIQUE INDEX collections_uri ON collections (uri) WHERE uri IS NOT NULL;

-- One row per account that changes collections. Writing to it makes concurrent requests of one owner wait for each other.
CREATE TABLE owners (
    account_id integer PRIMARY KEY
);

-- owner_id: the collection's owner. account_id: the listed account. state: pending, accepted, rejected or revoked, as in the
-- entity. uri, approval_uri: the ActivityPub ids of the request to list the account and of its approval; NULL until
-- collections federate.
CREATE TABLE items (
    id integer PRIMARY KEY,
    collection_id integer NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    owner_id integer NOT NULL,
    account_id integer NOT NULL,
    state text NOT NULL,
    uri text,
    approval_uri text,
    created_at integer NOT NULL
);
CREATE UNIQUE INDEX items_collection ON items (collection_id, account_id);
CREATE INDEX items_account ON items (account_id, collection_id);
CREATE INDEX items_owner ON items (owner_id, account_id);
