-- Who invited somebody: said by the plugin that let them in, and kept with their user.
ALTER TABLE users ADD COLUMN invited_by_account_id BIGINT REFERENCES accounts (id) ON DELETE SET NULL;
CREATE INDEX users_invited_by ON users (invited_by_account_id) WHERE invited_by_account_id IS NOT NULL;
