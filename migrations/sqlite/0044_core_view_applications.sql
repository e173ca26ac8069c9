-- More of what plugins may be granted to read: whether a status has a poll, and the application that each local status was
-- posted with. The latter is a view of its own, to be granted by itself, since people may hide it from others.
DROP VIEW core_v1__statuses;
CREATE VIEW core_v1__statuses AS
SELECT s.id, s.account_id, s.uri, s.url, s.local,
    CASE WHEN s.visibility IN ('public', 'unlisted', 'public_unlisted') THEN s.text ELSE '' END AS text,
    CASE WHEN s.visibility IN ('public', 'unlisted', 'public_unlisted') THEN s.spoiler_text ELSE '' END AS spoiler_text,
    s.sensitive, s.visibility, s.limited_scope, s.searchability, s.language, s.conversation_id, s.in_reply_to_id,
    s.in_reply_to_account_id, s.reblog_of_id, s.has_media, s.replies_count, s.reblogs_count, s.favourites_count,
    s.created_at / 1000 AS created_at, s.edited_at / 1000 AS edited_at, s.has_poll
FROM statuses s;

DROP VIEW core_v1__statuses_private;
CREATE VIEW core_v1__statuses_private AS
SELECT s.id, s.account_id, s.uri, s.url, s.local, s.text, s.spoiler_text, s.sensitive, s.visibility, s.limited_scope,
    s.searchability, s.language, s.conversation_id, s.in_reply_to_id, s.in_reply_to_account_id, s.reblog_of_id, s.has_media,
    s.replies_count, s.reblogs_count, s.favourites_count, s.created_at / 1000 AS created_at,
    s.edited_at / 1000 AS edited_at, s.has_poll
FROM statuses s;

CREATE VIEW core_v1__status_applications AS
SELECT s.id AS status_id, s.account_id, s.app_id AS application_id, a.name, a.website
FROM statuses s JOIN oauth_apps a ON a.id = s.app_id;
