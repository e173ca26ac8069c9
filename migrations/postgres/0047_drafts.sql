-- Statuses that their authors have not published yet, for all their devices.
CREATE TABLE saved_drafts (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    parameters JSONB NOT NULL, -- the fields of the form, as JSON
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX saved_drafts_account ON saved_drafts (account_id, id);

-- The uploads that drafts name, which are kept for them.
CREATE TABLE saved_draft_media (
    draft_id BIGINT NOT NULL REFERENCES saved_drafts (id) ON DELETE CASCADE,
    media_id BIGINT NOT NULL REFERENCES media_attachments (id) ON DELETE CASCADE,
    PRIMARY KEY (draft_id, media_id)
);
CREATE INDEX saved_draft_media_media ON saved_draft_media (media_id);
