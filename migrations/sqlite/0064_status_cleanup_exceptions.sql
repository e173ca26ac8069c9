-- What people chose of the exceptions of automatic deletion that plugins have: name is that of the exception
-- (emoji_reactions.own), least the number that was chosen, 1 for what has none, 0 when it does not hold. Without a row it is as
-- the plugin has it.
CREATE TABLE status_cleanup_exceptions (
    account_id INTEGER NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    plugin_id INTEGER NOT NULL REFERENCES plugins (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    least INTEGER NOT NULL,
    PRIMARY KEY (account_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX status_cleanup_exceptions_plugin ON status_cleanup_exceptions (plugin_id);
