-- The full-text index of statuses, and trends.

-- A term of a status that is no reblog. No foreign key: a deletion removes the terms of its status, and every status
-- found is checked, so that a surplus row does no harm.
CREATE TABLE status_terms (
    term INTEGER NOT NULL, -- 32 bits for a word or a fact such as has:image (service::search::document)
    status_id INTEGER NOT NULL,
    PRIMARY KEY (term, status_id)
) STRICT, WITHOUT ROWID;

-- A hashtag, status or link of much present use. No foreign key: a read leaves out a deleted subject, and the next run
-- removes it.
CREATE TABLE trends (
    kind TEXT NOT NULL, -- the table of subject_id: tag, status, or link for preview_cards
    subject_id INTEGER NOT NULL,
    language TEXT, -- of a status
    allowed INTEGER, -- the decision of a review; NULL: no review
    score REAL NOT NULL, -- decays from run to run; 0 of a row that is kept for its peak
    peak REAL, -- the highest score of a hashtag
    peak_at INTEGER NOT NULL,
    PRIMARY KEY (kind, subject_id)
) STRICT, WITHOUT ROWID;
