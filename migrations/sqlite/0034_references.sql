-- References of statuses to others. target_id is never a reblog. id: known to notifications. position: its place among those
-- of the status, from 0. in_text: the text names the target; else the request that published the status did.
CREATE TABLE status_references (
    target_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    in_text INTEGER NOT NULL,
    PRIMARY KEY (target_id, status_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX status_references_status ON status_references (status_id, position);

-- has_references: there are rows above, or were before their targets were deleted. quote_id: the one among them that is quoted;
-- without a foreign key, for which every deletion would need an index here. referred_by_count: how many statuses that anyone may
-- read refer to it.
ALTER TABLE statuses ADD COLUMN has_references INTEGER NOT NULL DEFAULT FALSE;
ALTER TABLE statuses ADD COLUMN quote_id INTEGER;
ALTER TABLE statuses ADD COLUMN referred_by_count INTEGER NOT NULL DEFAULT 0;

-- Remote statuses by the addresses of their pages.
CREATE INDEX statuses_url ON statuses (url) WHERE NOT local AND url IS NOT NULL;

-- Whoever said nothing about quotes allows them.
UPDATE accounts SET other_settings = json_set(other_settings, '$.allow_quote', json('true')), version = version + 1;
