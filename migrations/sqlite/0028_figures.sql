-- Reviews of links by their publisher, and daily counts for the metrics that staff sees.

-- A site whose links were close to becoming trends, or that staff decided about. A decision covers its subdomains.
CREATE TABLE link_publishers (
    id INTEGER PRIMARY KEY,
    domain TEXT NOT NULL,
    trendable INTEGER, -- its links may be shown as trends unless they have their own review; NULL: no review
    reviewed_at INTEGER,
    requested_review_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX link_publishers_domain ON link_publishers (domain);

-- A day on which a user used the server. Deleted after some years.
CREATE TABLE active_days (
    day INTEGER NOT NULL, -- counted from the epoch, in UTC
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (day, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX active_days_account ON active_days (account_id);
INSERT INTO active_days (day, account_id)
SELECT last_active_at / 86400000000, account_id FROM users WHERE last_active_at IS NOT NULL;

-- A past day whose rows were counted; a job counts each day again from time to time.
CREATE TABLE counted_days (
    day INTEGER PRIMARY KEY,
    interactions INTEGER NOT NULL, -- reblogs, favourites and replies to others by local accounts
    counted_at INTEGER NOT NULL
) STRICT;

-- The statuses of a server on a counted day.
CREATE TABLE status_days (
    domain TEXT NOT NULL, -- empty: this server
    day INTEGER NOT NULL,
    language TEXT NOT NULL, -- empty: none
    statuses INTEGER NOT NULL, -- with reblogs
    reblogs INTEGER NOT NULL,
    PRIMARY KEY (domain, day, language)
) STRICT, WITHOUT ROWID;
CREATE INDEX status_days_day ON status_days (day, domain, statuses);

-- What else a server did on a counted day.
CREATE TABLE server_days (
    domain TEXT NOT NULL, -- empty: this server
    day INTEGER NOT NULL,
    accounts INTEGER NOT NULL, -- new here
    media_bytes INTEGER NOT NULL, -- of stored files
    reports INTEGER NOT NULL, -- of its accounts
    follows INTEGER NOT NULL, -- of its accounts by local ones
    followers INTEGER NOT NULL, -- of local accounts by its accounts
    PRIMARY KEY (domain, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX server_days_day ON server_days (day);

-- The size of the files that were stored on a counted day.
CREATE TABLE media_days (
    day INTEGER NOT NULL,
    kind TEXT NOT NULL, -- as of media_attachments
    bytes INTEGER NOT NULL,
    PRIMARY KEY (day, kind)
) STRICT, WITHOUT ROWID;

CREATE INDEX reports_resolved ON reports (action_taken_at) WHERE action_taken_at IS NOT NULL;
