-- Views of the server's tables that plugins may be granted to read, and functions that bound their statements.
--
-- Columns are added, never changed or removed. The views are plain projections: the planner sees through them. One rule
-- holds for both engines: times are integers of milliseconds since 1970; a truth value is tested as WHERE local or =
-- TRUE; JSON is read by ->>. No view has an e-mail address, key, password, token, preference or network address.

CREATE SCHEMA core_v1;

-- Limits of values that statements of plugins make and search for. PostgreSQL checks its time limit between rows, and
-- hardly ever within a function: no single call may take long. The check of statements writes these names around
-- arguments and results; on SQLite the program has functions of its own instead (database::confined::bounded). The
-- numbers are those of database::confined::functions.

-- The value, unless it is larger than a value of a statement may be.
CREATE FUNCTION core_v1.bounded(value anyelement) RETURNS anyelement
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    IF pg_column_size(value) > 262144 THEN
        RAISE EXCEPTION 'string or blob too big' USING ERRCODE = '54000';
    END IF;
    RETURN value;
END
$$;

-- The number, unless it has more digits than any sum of integers: the product of products.
CREATE FUNCTION core_v1.bounded_number(value anyelement) RETURNS anyelement
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    IF pg_column_size(value) > 200 THEN
        RAISE EXCEPTION 'number too big' USING ERRCODE = '54000';
    END IF;
    RETURN value;
END
$$;

-- The text, if it is short enough to search for.
CREATE FUNCTION core_v1.short(value text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    IF octet_length(value) > 100 THEN
        RAISE EXCEPTION 'what is searched for is longer than 100 bytes' USING ERRCODE = '22023';
    END IF;
    RETURN value;
END
$$;

CREATE VIEW core_v1.accounts AS
SELECT a.id, a.username, a.domain, a.domain IS NULL AS local, a.uri, a.url, a.actor_type, a.display_name, a.locked,
    a.discoverable, a.indexable, a.searchability, a.memorial, a.suspended_at IS NOT NULL AS suspended,
    a.limited_at IS NOT NULL AS limited, a.moved_to_account_id, a.other_settings, a.followers_count, a.following_count,
    a.statuses_count, FLOOR(EXTRACT(EPOCH FROM a.last_status_at) * 1000)::BIGINT AS last_status_at,
    FLOOR(EXTRACT(EPOCH FROM a.created_at) * 1000)::BIGINT AS created_at,
    FLOOR(EXTRACT(EPOCH FROM u.last_active_at) * 1000)::BIGINT AS last_active_at
FROM accounts a LEFT JOIN users u ON u.account_id = a.id;

-- Statuses with the texts of the publicly readable ones.
CREATE VIEW core_v1.statuses AS
SELECT s.id, s.account_id, s.uri, s.url, s.local,
    CASE WHEN s.visibility IN ('public', 'unlisted', 'public_unlisted') THEN s.text ELSE '' END AS text,
    CASE WHEN s.visibility IN ('public', 'unlisted', 'public_unlisted') THEN s.spoiler_text ELSE '' END AS spoiler_text,
    s.sensitive, s.visibility, s.limited_scope, s.searchability, s.language, s.conversation_id, s.in_reply_to_id,
    s.in_reply_to_account_id, s.reblog_of_id, s.has_media, s.replies_count, s.reblogs_count, s.favourites_count,
    FLOOR(EXTRACT(EPOCH FROM s.created_at) * 1000)::BIGINT AS created_at,
    FLOOR(EXTRACT(EPOCH FROM s.edited_at) * 1000)::BIGINT AS edited_at, s.has_poll
FROM statuses s;

-- Statuses with all texts.
CREATE VIEW core_v1.statuses_private AS
SELECT s.id, s.account_id, s.uri, s.url, s.local, s.text, s.spoiler_text, s.sensitive, s.visibility, s.limited_scope,
    s.searchability, s.language, s.conversation_id, s.in_reply_to_id, s.in_reply_to_account_id, s.reblog_of_id,
    s.has_media, s.replies_count, s.reblogs_count, s.favourites_count,
    FLOOR(EXTRACT(EPOCH FROM s.created_at) * 1000)::BIGINT AS created_at,
    FLOOR(EXTRACT(EPOCH FROM s.edited_at) * 1000)::BIGINT AS edited_at, s.has_poll
FROM statuses s;

-- The applications of local statuses, granted by itself: an author may hide them from others.
CREATE VIEW core_v1.status_applications AS
SELECT s.id AS status_id, s.account_id, s.app_id AS application_id, a.name, a.website
FROM statuses s JOIN oauth_apps a ON a.id = s.app_id;

CREATE VIEW core_v1.status_tags AS
SELECT st.status_id, st.tag_id, t.name FROM status_tags st JOIN tags t ON t.id = st.tag_id;

CREATE VIEW core_v1.tags AS
SELECT t.id, t.name, t.display_name FROM tags t;

CREATE VIEW core_v1.mentions AS
SELECT m.id, m.status_id, m.account_id, m.silent FROM mentions m;

CREATE VIEW core_v1.bookmarks AS
SELECT b.id, b.account_id, b.status_id, FLOOR(EXTRACT(EPOCH FROM b.created_at) * 1000)::BIGINT AS created_at
FROM bookmarks b;

CREATE VIEW core_v1.favourites AS
SELECT f.id, f.account_id, f.status_id, FLOOR(EXTRACT(EPOCH FROM f.created_at) * 1000)::BIGINT AS created_at
FROM favourites f;

CREATE VIEW core_v1.follows AS
SELECT f.id, f.account_id, f.target_account_id, f.show_reblogs, f.notify, f.languages,
    FLOOR(EXTRACT(EPOCH FROM f.created_at) * 1000)::BIGINT AS created_at
FROM follows f;

CREATE VIEW core_v1.blocks AS
SELECT b.id, b.account_id, b.target_account_id, FLOOR(EXTRACT(EPOCH FROM b.created_at) * 1000)::BIGINT AS created_at
FROM blocks b;

CREATE VIEW core_v1.mutes AS
SELECT m.id, m.account_id, m.target_account_id, m.hide_notifications,
    FLOOR(EXTRACT(EPOCH FROM m.expires_at) * 1000)::BIGINT AS expires_at,
    FLOOR(EXTRACT(EPOCH FROM m.created_at) * 1000)::BIGINT AS created_at
FROM mutes m;

CREATE VIEW core_v1.account_domain_blocks AS
SELECT d.id, d.account_id, d.domain FROM account_domain_blocks d;

CREATE VIEW core_v1.lists AS
SELECT l.id, l.account_id, l.title, l.replies_policy, l.exclusive, l.notify,
    FLOOR(EXTRACT(EPOCH FROM l.created_at) * 1000)::BIGINT AS created_at
FROM lists l;

CREATE VIEW core_v1.list_accounts AS
SELECT la.list_id, la.account_id FROM list_accounts la;

CREATE VIEW core_v1.custom_emojis AS
SELECT e.id, e.shortcode, e.domain, e.uri, e.category, e.visible_in_picker, e.disabled, e.sensitive, e.aliases,
    e.license
FROM custom_emojis e;

-- Access tokens that are not revoked: data of a token can be deleted with it. The id reveals nothing of the token.
CREATE VIEW core_v1.tokens AS
SELECT t.id, t.account_id
FROM oauth_tokens t
WHERE t.revoked_at IS NULL AND t.account_id IS NOT NULL;
