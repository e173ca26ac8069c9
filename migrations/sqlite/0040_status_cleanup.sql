-- Automatic deletion of somebody's old statuses. min_status_age: in seconds. min_favs, min_reblogs: statuses with as many are
-- kept; NULL: however many. An account without a row, or whose policy is not enabled, keeps everything.
CREATE TABLE status_cleanup_policies (
    account_id INTEGER PRIMARY KEY REFERENCES users (account_id) ON DELETE CASCADE,
    enabled INTEGER NOT NULL,
    min_status_age INTEGER NOT NULL,
    keep_direct INTEGER NOT NULL,
    keep_pinned INTEGER NOT NULL,
    keep_polls INTEGER NOT NULL,
    keep_media INTEGER NOT NULL,
    keep_self_fav INTEGER NOT NULL,
    keep_self_bookmark INTEGER NOT NULL,
    min_favs INTEGER,
    min_reblogs INTEGER
) STRICT;
