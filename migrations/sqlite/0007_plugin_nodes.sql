-- paused_until: a server changes the plugin's tables; until then at the latest, no other lets it be called.
-- paused_by: a number of that server's for this once.
-- manifest: that of the package that served last, for servers that cannot load it and keep for it what it is to be told.
ALTER TABLE plugins ADD COLUMN paused_until INTEGER;
ALTER TABLE plugins ADD COLUMN paused_by INTEGER;
ALTER TABLE plugins ADD COLUMN manifest TEXT;
