-- The full-text index: the terms of every status that is no reblog. term: a number of 32 bits that stands for a word or for a
-- fact such as has:image (text::search, service::search::document). Without a foreign key: a deletion takes the terms of its
-- status along, and what is found is looked at again, so that a row too many does no harm.
CREATE TABLE status_terms (
    term BIGINT NOT NULL,
    status_id BIGINT NOT NULL,
    PRIMARY KEY (term, status_id)
);

-- Statuses of before: a job brings them into the index, newest first.
INSERT INTO jobs (id, lane, kind, key, payload, state, attempts, run_at, created_at)
SELECT -26, 'background', 'index_statuses', '', jsonb_build_object('before', CAST(last.id + 1 AS TEXT)),
       'ready', 0, TIMESTAMPTZ 'epoch', TIMESTAMPTZ 'epoch'
FROM (SELECT MAX(s.id) AS id FROM statuses s) last WHERE last.id IS NOT NULL;
