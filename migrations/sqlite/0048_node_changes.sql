-- What nodes tell each other of, in batches: changes is a JSON array of them, or null where some were lost. number counts the
-- batches of a node from 1. Rows are deleted after some minutes: whoever missed them reads everything again. Not used on
-- SQLite, where there is one node.
CREATE TABLE node_changes (
    node TEXT NOT NULL,
    number INTEGER NOT NULL,
    changes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (node, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX node_changes_created ON node_changes (created_at);

-- The nodes that listen, and when they last said so.
CREATE TABLE listening_nodes (
    node TEXT PRIMARY KEY,
    seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
