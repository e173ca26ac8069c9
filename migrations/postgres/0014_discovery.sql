-- The full-text index of statuses, and trends.

-- A term of a status that is no reblog. No foreign key: a deletion removes the terms of its status, and every status
-- found is checked, so that a surplus row does no harm.
CREATE TABLE status_terms (
    term BIGINT NOT NULL, -- 32 bits for a word or a fact such as has:image (service::search::document)
    status_id BIGINT NOT NULL,
    PRIMARY KEY (term, status_id)
);

-- A hashtag, status or link of much present use. No foreign key: a read leaves out a deleted subject, and the next run
-- removes it.
CREATE TABLE trends (
    kind TEXT NOT NULL, -- the table of subject_id: tag, status, or link for preview_cards
    subject_id BIGINT NOT NULL,
    language TEXT, -- of a status
    allowed BOOLEAN, -- the decision of a review; NULL: no review
    score DOUBLE PRECISION NOT NULL, -- decays from run to run; 0 of a row that is kept for its peak
    peak DOUBLE PRECISION, -- the highest score of a hashtag
    peak_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (kind, subject_id)
);
