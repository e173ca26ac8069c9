-- What waits for each domain is bounded.

ALTER TABLE inbound_activities ADD COLUMN domain TEXT NOT NULL DEFAULT ''; -- the sender's registrable domain
ALTER TABLE inbound_activities ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0; -- of the body
CREATE INDEX inbound_activities_domain ON inbound_activities (domain, bytes) WHERE body IS NOT NULL;
CREATE INDEX custom_emojis_domain ON custom_emojis (domain) WHERE domain IS NOT NULL;
