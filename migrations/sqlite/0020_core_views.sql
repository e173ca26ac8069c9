-- Views of the server's tables that plugins may be granted to read, named core_v1.accounts by their statements.
--
-- Columns are added, never changed or removed. The views are plain projections: the planner sees through them. One rule
-- holds for both engines: times are integers of milliseconds since 1970; a truth value is tested as WHERE local or =
-- TRUE; JSON is read by ->>. No view has an e-mail address, key, password, token, preference or network address. The
-- functions that bound the statements are part of the program: database::confined::bounded.

CREATE VIEW core_v1__accounts AS
SELECT a.id, a.username, a.domain, a.domain IS NULL AS local, a.uri, a.url, a.actor_type, a.display_name, a.locked,
    a.discoverable, a.indexable, a.searchability, a.memorial, a.suspended_at IS NOT NULL AS suspended,
    a.limited_at IS NOT NULL AS limited, a.moved_to_account_id, a.other_settings, a.followers_count, a.following_count,
    a.statuses_count, a.last_status_at / 1000 AS last_status_at, a.created_at / 1000 AS created_at,
    u.last_active_at / 1000 AS last_active_at
FROM accounts a LEFT JOIN users u ON u.account_id = a.id;

-- Statuses with the texts of the publicly readable ones.
CREATE VIEW core_v1__statuses AS
SELECT s.id, s.account_id, s.uri, s.url, s.local,
    CASE WHEN s.visibility IN ('public', 'unlisted', 'public_unlisted') THEN s.text ELSE '' END AS text,
    CASE WHEN s.visibility IN ('public', 'unlisted', 'public_unlisted') THEN s.spoiler_text ELSE '' END AS spoiler_text,
    s.sensitive, s.visibility, s.limited_scope, s.searchability, s.language, s.conversation_id, s.in_reply_to_id,
    s.in_reply_to_account_id, s.reblog_of_id, s.has_media, s.replies_count, s.reblogs_count, s.favourites_count,
    s.created_at / 1000 AS created_at, s.edited_at / 1000 AS edited_at, s.has_poll
FROM statuses s;

-- Statuses with all texts.
CREATE VIEW core_v1__statuses_private AS
SELECT s.id, s.account_id, s.uri, s.url, s.local, s.text, s.spoiler_text, s.sensitive, s.visibility, s.limited_scope,
    s.searchability, s.language, s.conversation_id, s.in_reply_to_id, s.in_reply_to_account_id, s.reblog_of_id,
    s.has_media, s.replies_count, s.reblogs_count, s.favourites_count, s.created_at / 1000 AS created_at,
    s.edited_at / 1000 AS edited_at, s.has_poll
FROM statuses s;

-- The applications of local statuses, granted by itself: an author may hide them from others.
CREATE VIEW core_v1__status_applications AS
SELECT s.id AS status_id, s.account_id, s.app_id AS application_id, a.name, a.website
FROM statuses s JOIN oauth_apps a ON a.id = s.app_id;

CREATE VIEW core_v1__status_tags AS
SELECT st.status_id, st.tag_id, t.name FROM status_tags st JOIN tags t ON t.id = st.tag_id;

CREATE VIEW core_v1__tags AS
SELECT t.id, t.name, t.display_name FROM tags t;

CREATE VIEW core_v1__mentions AS
SELECT m.id, m.status_id, m.account_id, m.silent FROM mentions m;

CREATE VIEW core_v1__bookmarks AS
SELECT b.id, b.account_id, b.status_id, b.created_at / 1000 AS created_at
FROM bookmarks b;

CREATE VIEW core_v1__favourites AS
SELECT f.id, f.account_id, f.status_id, f.created_at / 1000 AS created_at
FROM favourites f;

CREATE VIEW core_v1__follows AS
SELECT f.id, f.account_id, f.target_account_id, f.show_reblogs, f.notify, f.languages, f.created_at / 1000 AS created_at
FROM follows f;

CREATE VIEW core_v1__blocks AS
SELECT b.id, b.account_id, b.target_account_id, b.created_at / 1000 AS created_at
FROM blocks b;

CREATE VIEW core_v1__mutes AS
SELECT m.id, m.account_id, m.target_account_id, m.hide_notifications, m.expires_at / 1000 AS expires_at,
    m.created_at / 1000 AS created_at
FROM mutes m;

CREATE VIEW core_v1__account_domain_blocks AS
SELECT d.id, d.account_id, d.domain FROM account_domain_blocks d;

CREATE VIEW core_v1__lists AS
SELECT l.id, l.account_id, l.title, l.replies_policy, l.exclusive, l.notify, l.created_at / 1000 AS created_at
FROM lists l;

CREATE VIEW core_v1__list_accounts AS
SELECT la.list_id, la.account_id FROM list_accounts la;

CREATE VIEW core_v1__custom_emojis AS
SELECT e.id, e.shortcode, e.domain, e.uri, e.category, e.visible_in_picker, e.disabled, e.sensitive, e.aliases,
    e.license
FROM custom_emojis e;

-- Access tokens that are not revoked: data of a token can be deleted with it. The id reveals nothing of the token.
CREATE VIEW core_v1__tokens AS
SELECT t.id, t.account_id
FROM oauth_tokens t
WHERE t.revoked_at IS NULL AND t.account_id IS NOT NULL;
