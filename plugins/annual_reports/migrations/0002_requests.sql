-- Reports that people asked for, until they are made. requested_at: milliseconds.
CREATE TABLE requests (
    account_id integer NOT NULL,
    year integer NOT NULL,
    requested_at integer NOT NULL,
    PRIMARY KEY (account_id, year)
);

-- The years of which the tallies of all accounts are there.
CREATE TABLE counted_years (
    year integer NOT NULL,
    PRIMARY KEY (year)
);
