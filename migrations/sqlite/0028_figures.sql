-- Reviews of links by their publisher.

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
