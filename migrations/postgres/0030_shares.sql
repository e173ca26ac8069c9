-- Lanes that other servers cause work in are shared between them.

ALTER TABLE jobs ADD COLUMN share TEXT; -- the registrable domain that caused it; NULL: this server
-- A job does not run while another one of its kind and key does.
CREATE INDEX jobs_running_key ON jobs (kind, key) WHERE key IS NOT NULL AND state = 'running';
