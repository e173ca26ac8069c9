-- What is used a lot at present. kind: what subject_id is the id of, tag or status. language: of a status. allowed: what a
-- review said, NULL while there was none. score: decays from run to run; 0 of what is kept for its peak alone. peak, peak_at:
-- the highest score of a hashtag and when it was reached. Without foreign keys: what is gone is left out when trends are
-- read, and falls out with the next run.
CREATE TABLE trends (
    kind TEXT NOT NULL,
    subject_id INTEGER NOT NULL,
    language TEXT,
    allowed INTEGER,
    score REAL NOT NULL,
    peak REAL,
    peak_at INTEGER NOT NULL,
    PRIMARY KEY (kind, subject_id)
) STRICT, WITHOUT ROWID;

-- What reviews said, NULL while there was none: of a status its own counts before that of its author.
ALTER TABLE tags ADD COLUMN reviewed_at INTEGER;
ALTER TABLE tags ADD COLUMN requested_review_at INTEGER;
ALTER TABLE accounts ADD COLUMN trendable INTEGER;
ALTER TABLE accounts ADD COLUMN reviewed_at INTEGER;
ALTER TABLE accounts ADD COLUMN requested_review_at INTEGER;
ALTER TABLE statuses ADD COLUMN trendable INTEGER;
