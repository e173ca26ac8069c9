-- The number of the next kind of feed that a plugin makes, one row. A number is not used again when its plugin is purged.
CREATE TABLE plugin_feed_kinds (
    next INTEGER NOT NULL
) STRICT;
INSERT INTO plugin_feed_kinds (next)
SELECT MAX(k.kind) + 1 FROM (
    SELECT 99 AS kind UNION ALL SELECT MAX(kind) FROM plugin_feeds UNION ALL SELECT MAX(kind) FROM feed_entries
) k;
