-- Reviews of links by their publisher.

-- A site whose links were close to becoming trends, or that staff decided about. A decision covers its subdomains.
CREATE TABLE link_publishers (
    id BIGINT PRIMARY KEY,
    domain TEXT NOT NULL,
    trendable BOOLEAN, -- its links may be shown as trends unless they have their own review; NULL: no review
    reviewed_at TIMESTAMPTZ,
    requested_review_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX link_publishers_domain ON link_publishers (domain);
