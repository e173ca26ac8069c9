-- Media of statuses, preview cards of their links, and custom emojis.

-- An uploaded or remote file. It belongs to a status, waits for a scheduled one, or was uploaded and not used yet.
CREATE TABLE media_attachments (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status_id BIGINT REFERENCES statuses (id) ON DELETE SET NULL,
    scheduled_status_id BIGINT REFERENCES scheduled_statuses (id) ON DELETE SET NULL,
    position BIGINT NOT NULL, -- among the media of the status
    kind TEXT NOT NULL, -- image, gifv, video, audio or unknown
    state TEXT NOT NULL, -- processing, ready or failed
    failure TEXT, -- the reason of the failed state, for the uploader
    mime TEXT NOT NULL,
    file TEXT, -- storage key
    size_bytes BIGINT NOT NULL,
    preview TEXT, -- storage key
    remote_url TEXT,
    preview_remote_url TEXT,
    meta JSONB NOT NULL, -- sizes, duration and focus, as clients read them
    description TEXT, -- alternative text
    blurhash TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX media_attachments_status ON media_attachments (status_id, position) WHERE status_id IS NOT NULL;
CREATE INDEX media_attachments_loose ON media_attachments (created_at) WHERE status_id IS NULL;
CREATE INDEX media_attachments_account ON media_attachments (account_id);
CREATE INDEX media_attachments_scheduled ON media_attachments (scheduled_status_id, position)
    WHERE scheduled_status_id IS NOT NULL;

-- The page behind a link, one row for each URL as it is fetched.
CREATE TABLE preview_cards (
    id BIGINT PRIMARY KEY,
    -- Named by the page; shown if its attribution_domains agree.
    creator_account_id BIGINT REFERENCES accounts (id) ON DELETE SET NULL,
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
    width BIGINT NOT NULL DEFAULT 0,
    height BIGINT NOT NULL DEFAULT 0,
    image TEXT, -- storage key
    image_bytes BIGINT NOT NULL DEFAULT 0, -- size of the picture: all pictures together are kept below a limit
    image_description TEXT NOT NULL DEFAULT '',
    embed_url TEXT NOT NULL DEFAULT '',
    blurhash TEXT,
    published_at TIMESTAMPTZ,
    trendable BOOLEAN, -- may be shown as a trend: the decision of a review; NULL: no review
    reviewed_at TIMESTAMPTZ,
    failures BIGINT NOT NULL DEFAULT 0, -- failed fetches in a row
    -- The next fetch, at a use of the link after it; during a fetch the time at which it counts as lost.
    due_at TIMESTAMPTZ NOT NULL,
    used_at TIMESTAMPTZ NOT NULL, -- last use in a status
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX preview_cards_url ON preview_cards (url);
CREATE INDEX preview_cards_page ON preview_cards (page_url);
CREATE INDEX preview_cards_creator ON preview_cards (creator_account_id) WHERE creator_account_id IS NOT NULL;
CREATE INDEX preview_cards_images ON preview_cards (used_at, id, image_bytes) WHERE image IS NOT NULL;

-- The card of a status.
CREATE TABLE status_cards (
    status_id BIGINT PRIMARY KEY REFERENCES statuses (id) ON DELETE CASCADE,
    card_id BIGINT NOT NULL REFERENCES preview_cards (id) ON DELETE CASCADE
);
CREATE INDEX status_cards_card ON status_cards (card_id, status_id);

-- A custom emoji of this server or of another one.
CREATE TABLE custom_emojis (
    id BIGINT PRIMARY KEY,
    shortcode TEXT NOT NULL,
    domain TEXT, -- NULL: of this server
    uri TEXT,
    category TEXT,
    file TEXT, -- storage key
    static_file TEXT, -- storage key of the still picture
    remote_url TEXT,
    visible_in_picker BOOLEAN NOT NULL,
    disabled BOOLEAN NOT NULL,
    sensitive BOOLEAN NOT NULL,
    aliases JSONB NOT NULL, -- list of other words for it
    license TEXT,
    width BIGINT,
    height BIGINT,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX custom_emojis_shortcode ON custom_emojis (shortcode, coalesce(domain, ''));
