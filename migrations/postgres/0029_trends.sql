-- What is used a lot at present. kind: what subject_id is the id of, tag or status. language: of a status. allowed: what a
-- review said, NULL while there was none. score: decays from run to run; 0 of what is kept for its peak alone. peak, peak_at:
-- the highest score of a hashtag and when it was reached. Without foreign keys: what is gone is left out when trends are
-- read, and falls out with the next run.
CREATE TABLE trends (
    kind TEXT NOT NULL,
    subject_id BIGINT NOT NULL,
    language TEXT,
    allowed BOOLEAN,
    score DOUBLE PRECISION NOT NULL,
    peak DOUBLE PRECISION,
    peak_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (kind, subject_id)
);

-- What reviews said, NULL while there was none: of a status its own counts before that of its author.
ALTER TABLE tags ADD COLUMN reviewed_at TIMESTAMPTZ;
ALTER TABLE tags ADD COLUMN requested_review_at TIMESTAMPTZ;
ALTER TABLE accounts ADD COLUMN trendable BOOLEAN;
ALTER TABLE accounts ADD COLUMN reviewed_at TIMESTAMPTZ;
ALTER TABLE accounts ADD COLUMN requested_review_at TIMESTAMPTZ;
ALTER TABLE statuses ADD COLUMN trendable BOOLEAN;
