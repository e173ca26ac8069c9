ALTER TABLE shelves ADD COLUMN colour TEXT;

CREATE TABLE links (
    shelf_id BIGINT NOT NULL PRIMARY KEY REFERENCES shelves (id) ON DELETE CASCADE,
    secret TEXT NOT NULL UNIQUE,
    visits BIGINT NOT NULL
);

CREATE TABLE daily_visits (
    day BIGINT NOT NULL PRIMARY KEY,
    visits BIGINT NOT NULL
);

CREATE TABLE announcements (
    shelf_id BIGINT NOT NULL PRIMARY KEY REFERENCES shelves (id) ON DELETE CASCADE,
    status_id BIGINT NOT NULL
);

CREATE TABLE audiences (
    account_id BIGINT NOT NULL PRIMARY KEY,
    servers BIGINT NOT NULL
);

CREATE TABLE stale_audiences (
    account_id BIGINT NOT NULL PRIMARY KEY
);
