-- Raised with everything that changes whom an account follows, blocks or mutes, or who blocks it: servers keep these relations
-- in memory by it.
ALTER TABLE accounts ADD COLUMN relations_version INTEGER NOT NULL DEFAULT 0;
