-- The numbers that processes put into the ids they make, so that no two make the same: each leases one. last_id: the highest id
-- made with it when the lease was last renewed, so that a clock set back never gives an older one.
CREATE TABLE id_nodes (
    node INTEGER PRIMARY KEY,
    holder TEXT NOT NULL,
    last_id INTEGER NOT NULL,
    lease_until INTEGER NOT NULL
) STRICT;
INSERT INTO id_nodes (node, holder, last_id, lease_until)
WITH RECURSIVE numbers (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM numbers WHERE number < 127)
SELECT number, '', 0, 0 FROM numbers;
