-- list_id: where it inserts, 0 for the home feed. terms: keywords, domains and hashtags, included and left out, as JSON.
-- version: the counter's value when this row or its members changed.
CREATE TABLE antennas (
    id integer PRIMARY KEY,
    account_id integer NOT NULL,
    title text NOT NULL,
    list_id integer NOT NULL,
    insert_feeds boolean NOT NULL,
    stl boolean NOT NULL,
    ltl boolean NOT NULL,
    with_media_only boolean NOT NULL,
    ignore_reblog boolean NOT NULL,
    terms text NOT NULL,
    version integer NOT NULL
);
CREATE INDEX antennas_account ON antennas (account_id, id);
CREATE INDEX antennas_list ON antennas (list_id) WHERE list_id <> 0;
CREATE INDEX antennas_version ON antennas (version, id);

-- The accounts that an antenna lists, and those that it leaves out.
CREATE TABLE members (
    antenna_id integer NOT NULL REFERENCES antennas (id) ON DELETE CASCADE,
    excluded boolean NOT NULL,
    account_id integer NOT NULL,
    PRIMARY KEY (antenna_id, excluded, account_id)
);
CREATE INDEX members_account ON members (account_id);

-- Antennas that went, so that an index in memory forgets them.
CREATE TABLE removed (
    antenna_id integer PRIMARY KEY,
    version integer NOT NULL
);
CREATE INDEX removed_version ON removed (version, antenna_id);

-- One row. version grows with every change; epoch when the index has to be read as a whole.
CREATE TABLE counters (
    id integer PRIMARY KEY,
    version integer NOT NULL,
    epoch integer NOT NULL
);
INSERT INTO counters (id, version, epoch) VALUES (1, 1, 0);
