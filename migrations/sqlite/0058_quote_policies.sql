-- Who may quote a status: quote_policy, of what anyone may read; of others nobody may. quotes_count: how many statuses that anyone
-- may read quote it.
ALTER TABLE statuses ADD COLUMN quote_policy TEXT NOT NULL DEFAULT 'public';
ALTER TABLE statuses ADD COLUMN quotes_count INTEGER NOT NULL DEFAULT 0;
CREATE INDEX statuses_quoting ON statuses (quote_id, id) WHERE quote_id IS NOT NULL;
UPDATE statuses SET quotes_count = (
    SELECT COUNT(*) FROM statuses q
    WHERE q.quote_id = statuses.id AND q.visibility IN ('public', 'public_unlisted', 'unlisted'))
WHERE id IN (SELECT q.quote_id FROM statuses q WHERE q.quote_id IS NOT NULL);

-- Quotes that the author of their target took back: status_id does not quote target_id again, whatever its text says.
CREATE TABLE quote_revocations (
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    target_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (status_id, target_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX quote_revocations_target ON quote_revocations (target_id);
