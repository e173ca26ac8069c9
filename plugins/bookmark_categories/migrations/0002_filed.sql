-- What somebody filed, in the order of the statuses: for the search.
CREATE INDEX entries_filed ON entries (account_id, status_id);
