-- What the browser of a session calls itself (`User-Agent`), cut; so that people know their sessions apart.
ALTER TABLE web_sessions ADD COLUMN browser TEXT NOT NULL DEFAULT '';
