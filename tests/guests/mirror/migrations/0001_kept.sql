CREATE TABLE kept (
    id integer PRIMARY KEY,
    account_id integer NOT NULL,
    status_id integer NOT NULL
);
CREATE INDEX kept_account ON kept (account_id, id);
