CREATE TABLE bodies (
    id integer PRIMARY KEY,
    body text NOT NULL
);
CREATE TABLE found (
    id integer PRIMARY KEY,
    length integer NOT NULL
);
