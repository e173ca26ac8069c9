-- The terms of service in all versions, translations of rules, and a permission.

CREATE TABLE terms_of_service (
    id INTEGER PRIMARY KEY,
    effective_date TEXT NOT NULL, -- YYYY-MM-DD, in UTC
    text TEXT NOT NULL, -- Markdown
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX terms_of_service_effective_date ON terms_of_service (effective_date);

-- Object: for each language, the text and the hint.
ALTER TABLE rules ADD COLUMN translations TEXT NOT NULL DEFAULT '{}';

-- Administrators get the permission view_feeds.
UPDATE roles SET permissions = permissions | 1048576 WHERE id = 2 AND permissions & 1 = 0;
