CREATE TABLE core_v1.accounts (id INTEGER PRIMARY KEY, username, domain, local, uri, url, actor_type, display_name, locked,
    discoverable, indexable, searchability, memorial, suspended, limited, moved_to_account_id, other_settings,
    followers_count, following_count, statuses_count, last_status_at, created_at, last_active_at);
CREATE TABLE core_v1.statuses (id INTEGER PRIMARY KEY, account_id, uri, url, local, text, spoiler_text, sensitive, visibility,
    limited_scope, searchability, language, conversation_id, in_reply_to_id, in_reply_to_account_id, reblog_of_id, has_media,
    replies_count, reblogs_count, favourites_count, created_at, edited_at, has_poll);
CREATE TABLE core_v1.statuses_private (id INTEGER PRIMARY KEY, account_id, uri, url, local, text, spoiler_text, sensitive,
    visibility, limited_scope, searchability, language, conversation_id, in_reply_to_id, in_reply_to_account_id, reblog_of_id,
    has_media, replies_count, reblogs_count, favourites_count, created_at, edited_at, has_poll);
CREATE TABLE core_v1.status_applications (status_id INTEGER PRIMARY KEY, account_id, application_id, name, website);
CREATE TABLE core_v1.status_tags (status_id, tag_id, name);
CREATE TABLE core_v1.tokens (id INTEGER PRIMARY KEY, account_id);
CREATE TABLE core_v1.tags (id INTEGER PRIMARY KEY, name, display_name);
CREATE TABLE core_v1.mentions (id INTEGER PRIMARY KEY, status_id, account_id, silent);
CREATE TABLE core_v1.follows (id INTEGER PRIMARY KEY, account_id, target_account_id, show_reblogs, notify, languages, created_at);
CREATE TABLE core_v1.blocks (id INTEGER PRIMARY KEY, account_id, target_account_id, created_at);
CREATE TABLE core_v1.mutes (id INTEGER PRIMARY KEY, account_id, target_account_id, hide_notifications, expires_at, created_at);
CREATE TABLE core_v1.account_domain_blocks (id INTEGER PRIMARY KEY, account_id, domain);
CREATE TABLE core_v1.bookmarks (id INTEGER PRIMARY KEY, account_id, status_id, created_at);
CREATE TABLE core_v1.favourites (id INTEGER PRIMARY KEY, account_id, status_id, created_at);
CREATE TABLE core_v1.lists (id INTEGER PRIMARY KEY, account_id, title, replies_policy, exclusive, notify, created_at);
CREATE TABLE core_v1.list_accounts (list_id, account_id);
CREATE TABLE core_v1.custom_emojis (id INTEGER PRIMARY KEY, shortcode, domain, uri, category, visible_in_picker, disabled,
    sensitive, aliases, license);
