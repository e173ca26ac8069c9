-- What somebody reacted to, in the order of the statuses: for the search.
CREATE INDEX reactions_reacted ON reactions (account_id, status_id);
