-- More of what plugins may be granted to read: which access tokens people have, so that what belongs to a token can go with
-- it. A token's id says nothing of the token; those that are revoked are left out.
CREATE VIEW core_v1__tokens AS
SELECT t.id, t.account_id
FROM oauth_tokens t
WHERE t.revoked_at IS NULL AND t.account_id IS NOT NULL;
