-- Hashtags are found, and counted on profiles, by the statuses that anyone may read. used_publicly: one such status had it;
-- a search begins with these and looks whether one still has.
ALTER TABLE tags ADD COLUMN used_publicly BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE tags SET used_publicly = TRUE WHERE id IN (
    SELECT st.tag_id FROM status_tags st JOIN statuses s ON s.id = st.status_id
    WHERE s.visibility IN ('public', 'unlisted', 'public_unlisted')
);
CREATE INDEX tags_used_publicly ON tags (name) WHERE used_publicly;

UPDATE featured_tags SET
    statuses_count = (
        SELECT COUNT(*) FROM status_tags st JOIN statuses s ON s.id = st.status_id
        WHERE st.tag_id = featured_tags.tag_id AND s.account_id = featured_tags.account_id
            AND s.visibility IN ('public', 'unlisted', 'public_unlisted')
    ),
    last_status_at = (
        SELECT MAX(s.created_at) FROM status_tags st JOIN statuses s ON s.id = st.status_id
        WHERE st.tag_id = featured_tags.tag_id AND s.account_id = featured_tags.account_id
            AND s.visibility IN ('public', 'unlisted', 'public_unlisted')
    );
