-- What the staff says of a link: whether it may be shown as a trend; neither, before it was looked at.
ALTER TABLE preview_cards ADD COLUMN trendable INTEGER;
ALTER TABLE preview_cards ADD COLUMN reviewed_at INTEGER;

-- Links are looked up by the address that clients are shown.
CREATE INDEX preview_cards_page ON preview_cards (page_url);
