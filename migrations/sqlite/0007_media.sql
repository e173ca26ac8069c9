-- Media of statuses, preview cards of their links, and custom emojis.

-- An uploaded or remote file. It belongs to a status, waits for a scheduled one, or was uploaded and not used yet.
CREATE TABLE media_attachments (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id INTEGER REFERENCES statuses (id) ON DELETE SET NULL,
    scheduled_status_id INTEGER REFERENCES scheduled_statuses (id) ON DELETE SET NULL,
    position INTEGER NOT NULL, -- among the media of the status
    kind TEXT NOT NULL, -- image, gifv, video, audio or unknown
    state TEXT NOT NULL, -- processing, ready or failed
    failure TEXT, -- the reason of the failed state, for the uploader
    mime TEXT NOT NULL,
    file TEXT, -- storage key
    size_bytes INTEGER NOT NULL,
    preview TEXT, -- storage key
    remote_url TEXT,
    preview_remote_url TEXT,
    meta TEXT NOT NULL, -- sizes, duration and focus, as clients read them
    description TEXT, -- alternative text
    blurhash TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX media_attachments_status ON media_attachments (status_id, position) WHERE status_id IS NOT NULL;
CREATE INDEX media_attachments_loose ON media_attachments (created_at) WHERE status_id IS NULL;
CREATE INDEX media_attachments_account ON media_attachments (account_id);
CREATE INDEX media_attachments_scheduled ON media_attachments (scheduled_status_id, position)
    WHERE scheduled_status_id IS NOT NULL;

-- The page behind a link, one row for each URL as it is fetched.
CREATE TABLE preview_cards (
    id INTEGER PRIMARY KEY,
    -- Named by the page; shown if its attribution_domains agree.
    creator_account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
    url TEXT NOT NULL, -- fetched
    state TEXT NOT NULL, -- waiting, found or nothing; the columns below are filled in the state found
    kind TEXT NOT NULL, -- link, photo or video
    page_url TEXT NOT NULL, -- shown to clients, and the target of the card
    title TEXT NOT NULL DEFAULT '',
    description TEXT NOT NULL DEFAULT '',
    language TEXT,
    author_name TEXT NOT NULL DEFAULT '',
    author_url TEXT NOT NULL DEFAULT '',
    provider_name TEXT NOT NULL DEFAULT '',
    provider_url TEXT NOT NULL DEFAULT '',
    html TEXT NOT NULL DEFAULT '', -- sanitised
    width INTEGER NOT NULL DEFAULT 0,
    height INTEGER NOT NULL DEFAULT 0,
    image TEXT, -- storage key
    image_bytes INTEGER NOT NULL DEFAULT 0, -- size of the picture: all pictures together are kept below a limit
    image_description TEXT NOT NULL DEFAULT '',
    embed_url TEXT NOT NULL DEFAULT '',
    blurhash TEXT,
    published_at INTEGER,
    trendable INTEGER, -- may be shown as a trend: the decision of a review; NULL: no review
    reviewed_at INTEGER,
    failures INTEGER NOT NULL DEFAULT 0, -- failed fetches in a row
    -- The next fetch, at a use of the link after it; during a fetch the time at which it counts as lost.
    due_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL, -- last use in a status
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX preview_cards_url ON preview_cards (url);
CREATE INDEX preview_cards_page ON preview_cards (page_url);
CREATE INDEX preview_cards_creator ON preview_cards (creator_account_id) WHERE creator_account_id IS NOT NULL;
CREATE INDEX preview_cards_images ON preview_cards (used_at, id, image_bytes) WHERE image IS NOT NULL;

-- The card of a status.
CREATE TABLE status_cards (
    status_id INTEGER PRIMARY KEY REFERENCES statuses (id) ON DELETE CASCADE,
    card_id INTEGER NOT NULL REFERENCES preview_cards (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX status_cards_card ON status_cards (card_id, status_id);

-- A custom emoji of this server or of another one.
CREATE TABLE custom_emojis (
    id INTEGER PRIMARY KEY,
    shortcode TEXT NOT NULL,
    domain TEXT, -- NULL: of this server
    uri TEXT,
    category TEXT,
    file TEXT, -- storage key
    static_file TEXT, -- storage key of the still picture
    remote_url TEXT,
    visible_in_picker INTEGER NOT NULL,
    disabled INTEGER NOT NULL,
    sensitive INTEGER NOT NULL,
    aliases TEXT NOT NULL, -- list of other words for it
    license TEXT,
    width INTEGER,
    height INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX custom_emojis_shortcode ON custom_emojis (shortcode, coalesce(domain, ''));
