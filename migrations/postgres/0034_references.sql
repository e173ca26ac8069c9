-- References of statuses to others. target_id is never a reblog. id: known to notifications. position: its place among those
-- of the status, from 0. in_text: the text names the target; else the request that published the status did.
CREATE TABLE status_references (
    target_id BIGINT NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    status_id BIGINT NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    id BIGINT NOT NULL,
    position BIGINT NOT NULL,
    in_text BOOLEAN NOT NULL,
    PRIMARY KEY (target_id, status_id)
);
CREATE INDEX status_references_status ON status_references (status_id, position);

-- has_references: there are rows above, or were before their targets were deleted. quote_id: the one among them that is quoted;
-- without a foreign key, for which every deletion would need an index here. referred_by_count: how many statuses that anyone may
-- read refer to it.
ALTER TABLE statuses ADD COLUMN has_references BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE statuses ADD COLUMN quote_id BIGINT;
ALTER TABLE statuses ADD COLUMN referred_by_count BIGINT NOT NULL DEFAULT 0;

-- Remote statuses by the addresses of their pages.
CREATE INDEX statuses_url ON statuses (url) WHERE NOT local AND url IS NOT NULL;

-- Whoever said nothing about quotes allows them.
UPDATE accounts SET other_settings = jsonb_set(other_settings, '{allow_quote}', 'true'), version = version + 1;
