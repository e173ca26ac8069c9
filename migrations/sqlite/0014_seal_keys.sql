-- The signing keys of local accounts were stored in clear: a job seals them, once.
INSERT INTO jobs (id, lane, kind, key, payload, state, attempts, run_at, created_at)
SELECT -1, 'background', 'seal_keys', '', '{"after":"0"}', 'ready', 0, 0, 0
WHERE EXISTS (SELECT 1 FROM users);
