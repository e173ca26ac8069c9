-- Sites that may name an account as the author of their pages: domains, their subdomains included.
ALTER TABLE accounts ADD COLUMN attribution_domains TEXT NOT NULL DEFAULT '[]';

-- The account that a page names as its author. Whether that is shown is for the account to say, by the column above.
ALTER TABLE preview_cards ADD COLUMN creator_account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL;
CREATE INDEX preview_cards_creator ON preview_cards (creator_account_id) WHERE creator_account_id IS NOT NULL;
