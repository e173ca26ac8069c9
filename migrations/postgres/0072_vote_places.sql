-- place: that of the vote among those of its account in its poll, from 0; 0 for each that was cast before this migration.
ALTER TABLE poll_votes ADD COLUMN place BIGINT NOT NULL DEFAULT 0;
