-- One account's reaction. name: the Unicode emoji, or a custom one's shortcode; domain: its server, '' for this one.
CREATE TABLE reactions (
    id integer PRIMARY KEY,
    account_id integer NOT NULL,
    status_id integer NOT NULL,
    name text NOT NULL,
    domain text NOT NULL,
    emoji_id integer,
    created_at integer NOT NULL
);
CREATE UNIQUE INDEX reactions_status ON reactions (status_id, account_id, name, domain);
CREATE INDEX reactions_order ON reactions (status_id, id);
CREATE INDEX reactions_group ON reactions (status_id, name, domain, id);
CREATE INDEX reactions_account ON reactions (account_id, id);
CREATE INDEX reactions_emoji ON reactions (emoji_id) WHERE emoji_id IS NOT NULL;
