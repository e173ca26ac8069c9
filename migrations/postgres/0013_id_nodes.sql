-- The numbers that processes put into the ids they make, so that no two make the same: each leases one. last_id: the highest id
-- made with it when the lease was last renewed, so that a clock set back never gives an older one.
CREATE TABLE id_nodes (
    node BIGINT PRIMARY KEY,
    holder TEXT NOT NULL,
    last_id BIGINT NOT NULL,
    lease_until TIMESTAMPTZ NOT NULL
);
INSERT INTO id_nodes (node, holder, last_id, lease_until)
SELECT number, '', 0, TIMESTAMPTZ 'epoch' FROM generate_series(0, 127) AS number;
