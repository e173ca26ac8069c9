-- Statuses that their authors have not published yet, for all their devices.
CREATE TABLE saved_drafts (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    parameters TEXT NOT NULL, -- the fields of the form, as JSON
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX saved_drafts_account ON saved_drafts (account_id, id);

-- The uploads that drafts name, which are kept for them.
CREATE TABLE saved_draft_media (
    draft_id INTEGER NOT NULL REFERENCES saved_drafts (id) ON DELETE CASCADE,
    media_id INTEGER NOT NULL REFERENCES media_attachments (id) ON DELETE CASCADE,
    PRIMARY KEY (draft_id, media_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX saved_draft_media_media ON saved_draft_media (media_id);
