-- Automatic deletion of somebody's old statuses. min_status_age: in seconds. min_favs, min_reblogs: statuses with as many are
-- kept; NULL: however many. An account without a row, or whose policy is not enabled, keeps everything.
CREATE TABLE status_cleanup_policies (
    account_id BIGINT PRIMARY KEY REFERENCES users (account_id) ON DELETE CASCADE,
    enabled BOOLEAN NOT NULL,
    min_status_age BIGINT NOT NULL,
    keep_direct BOOLEAN NOT NULL,
    keep_pinned BOOLEAN NOT NULL,
    keep_polls BOOLEAN NOT NULL,
    keep_media BOOLEAN NOT NULL,
    keep_self_fav BOOLEAN NOT NULL,
    keep_self_bookmark BOOLEAN NOT NULL,
    min_favs BIGINT,
    min_reblogs BIGINT
);
