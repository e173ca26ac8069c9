-- Whose packages of a plugin are trusted, and where they come from. public_key: of minisign; NULL: no signed package was
-- installed. source: the URL of an index or a package, or the path of a file, that the last one came from. installs: the
-- latest packages that were installed (a list of objects), the latest last.
ALTER TABLE plugins ADD COLUMN public_key TEXT;
ALTER TABLE plugins ADD COLUMN source TEXT;
ALTER TABLE plugins ADD COLUMN installs TEXT NOT NULL DEFAULT '[]';
