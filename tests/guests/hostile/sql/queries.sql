-- name: fill returns: exec
-- params: text body
INSERT INTO bodies (body) VALUES (:body);

-- Every row of the join calls functions on the largest texts that there may be.
-- name: read returns: one
-- params: text set, text part
SELECT SUM(length(ltrim(a.body, :set)) + length(replace(b.body, 'a', :set)) + length(replace(c.body, :part, ''))) AS n
FROM bodies a JOIN bodies b ON b.id > 0 JOIN bodies c ON c.id > 0;

-- name: known returns: one
SELECT count(*) AS n FROM bodies WHERE id < 2;

-- name: write returns: exec
-- params: text set, text part
INSERT INTO found (length)
SELECT length(rtrim(a.body, :set)) + length(replace(b.body, 'a', :set)) + length(replace(c.body, :part, ''))
FROM bodies a JOIN bodies b ON b.id > 0 JOIN bodies c ON c.id > 0;

-- A write that takes some milliseconds and succeeds.
-- name: write_some returns: exec
-- params: text set
UPDATE bodies SET body = substr(rtrim(body || :set, :set) || body, 1, 100000) WHERE id <= 20;
