-- The feed whose owners are the rows of the table: its entries go with them. Without one, nothing does.
ALTER TABLE plugin_owner_columns ADD COLUMN feed TEXT;

-- Whoever moved to an account that is removed.
CREATE INDEX accounts_moved_to ON accounts (moved_to_account_id) WHERE moved_to_account_id IS NOT NULL;
