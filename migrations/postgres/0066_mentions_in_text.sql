-- The mentions in the text of a status, so that nothing passes over an audience of many to find them.
CREATE INDEX mentions_in_text ON mentions (status_id, account_id) WHERE NOT silent;
