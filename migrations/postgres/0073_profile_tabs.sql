-- What avatar and header show, in words, and which tabs a profile has.
ALTER TABLE accounts ADD COLUMN avatar_description TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN header_description TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN show_media BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE accounts ADD COLUMN show_media_replies BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE accounts ADD COLUMN show_featured BOOLEAN NOT NULL DEFAULT TRUE;
