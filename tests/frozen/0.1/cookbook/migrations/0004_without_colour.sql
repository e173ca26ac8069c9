-- contract
ALTER TABLE shelves DROP COLUMN colour;
