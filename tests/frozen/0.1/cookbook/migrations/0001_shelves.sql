CREATE TABLE shelves (
    id INTEGER PRIMARY KEY,
    account_id BIGINT NOT NULL,
    title TEXT NOT NULL
);
CREATE UNIQUE INDEX shelves_title ON shelves (account_id, title);

CREATE TABLE owners (
    account_id BIGINT NOT NULL PRIMARY KEY
);

CREATE TABLE shelved (
    shelf_id BIGINT NOT NULL REFERENCES shelves (id) ON DELETE CASCADE,
    status_id BIGINT NOT NULL,
    PRIMARY KEY (shelf_id, status_id)
);
CREATE INDEX shelved_status ON shelved (status_id);

CREATE TABLE tallies (
    account_id BIGINT NOT NULL PRIMARY KEY,
    statuses BIGINT NOT NULL
);
