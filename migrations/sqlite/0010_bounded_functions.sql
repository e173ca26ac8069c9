-- The functions that bound what plugins' statements make and search for are part of the program on SQLite:
-- store::confined::bounded.
SELECT 1;
