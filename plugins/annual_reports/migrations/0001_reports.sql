-- data: the figures, as JSON. created_at, viewed_at: milliseconds; a report without the latter was not read yet.
CREATE TABLE reports (
    account_id integer NOT NULL,
    year integer NOT NULL,
    schema_version integer NOT NULL,
    data text NOT NULL,
    created_at integer NOT NULL,
    viewed_at integer,
    PRIMARY KEY (account_id, year)
);

-- What each local account did in a year, to compare one with all: its statuses, and the followers that it gained.
CREATE TABLE tallies (
    year integer NOT NULL,
    account_id integer NOT NULL,
    statuses integer NOT NULL,
    followers integer NOT NULL,
    PRIMARY KEY (year, account_id)
);
CREATE INDEX tallies_statuses ON tallies (year, statuses);
CREATE INDEX tallies_followers ON tallies (year, followers);
CREATE INDEX tallies_account ON tallies (account_id);
