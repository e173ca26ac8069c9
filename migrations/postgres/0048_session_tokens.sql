-- The access token of a browser's session: what outlives a request of it, such as streams and web push, belongs to the token.
ALTER TABLE web_sessions ADD COLUMN token_id BIGINT REFERENCES oauth_tokens (id) ON DELETE SET NULL;
CREATE INDEX web_sessions_token ON web_sessions (token_id);
