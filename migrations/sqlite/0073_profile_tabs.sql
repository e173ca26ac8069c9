-- What avatar and header show, in words, and which tabs a profile has.
ALTER TABLE accounts ADD COLUMN avatar_description TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN header_description TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN show_media INTEGER NOT NULL DEFAULT 1;
ALTER TABLE accounts ADD COLUMN show_media_replies INTEGER NOT NULL DEFAULT 1;
ALTER TABLE accounts ADD COLUMN show_featured INTEGER NOT NULL DEFAULT 1;
