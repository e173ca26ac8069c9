-- The size of a card's picture, so that those of all cards can be kept below a limit. It is not known of earlier ones: they count
-- for 64 KiB until they are fetched again.
ALTER TABLE preview_cards ADD COLUMN image_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE preview_cards SET image_bytes = 65536 WHERE image IS NOT NULL;
CREATE INDEX preview_cards_images ON preview_cards (used_at, id, image_bytes) WHERE image IS NOT NULL;
