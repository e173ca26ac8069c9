-- share_key: the secret of the page for others, null until the owner reads a report that was made before there was one.
-- public_hashtags: the hashtags for that page, as JSON; null in such a report.
ALTER TABLE reports ADD COLUMN share_key text;
ALTER TABLE reports ADD COLUMN public_hashtags text;
CREATE UNIQUE INDEX reports_share_key ON reports (share_key);
