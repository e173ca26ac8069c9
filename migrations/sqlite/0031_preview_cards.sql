-- What links in statuses lead to, once for each URL as it is fetched. state: whether the page was fetched, and has something to
-- show; until it has, the columns of the entity are empty. image: a storage key. failures: how many fetches in a row failed.
-- due_at: from when on the page is fetched (again) if the link is used; while it is being fetched, when that counts as lost.
-- used_at: when a status used the link last.
CREATE TABLE preview_cards (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    state TEXT NOT NULL,
    kind TEXT NOT NULL,
    page_url TEXT NOT NULL,
    title TEXT NOT NULL DEFAULT '',
    description TEXT NOT NULL DEFAULT '',
    language TEXT,
    author_name TEXT NOT NULL DEFAULT '',
    author_url TEXT NOT NULL DEFAULT '',
    provider_name TEXT NOT NULL DEFAULT '',
    provider_url TEXT NOT NULL DEFAULT '',
    html TEXT NOT NULL DEFAULT '',
    width INTEGER NOT NULL DEFAULT 0,
    height INTEGER NOT NULL DEFAULT 0,
    image TEXT,
    image_description TEXT NOT NULL DEFAULT '',
    embed_url TEXT NOT NULL DEFAULT '',
    blurhash TEXT,
    published_at INTEGER,
    failures INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX preview_cards_url ON preview_cards (url);

-- The card of a status.
CREATE TABLE status_cards (
    status_id INTEGER PRIMARY KEY REFERENCES statuses (id) ON DELETE CASCADE,
    card_id INTEGER NOT NULL REFERENCES preview_cards (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX status_cards_card ON status_cards (card_id, status_id);
