-- Operation of the server: the queue of jobs, and the nodes that share a database.

-- A job of the durable queue.
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY,
    lane TEXT NOT NULL, -- jobs of one lane never wait for those of another
    kind TEXT NOT NULL,
    key TEXT, -- at most one ready job of a kind has it
    payload TEXT NOT NULL,
    state TEXT NOT NULL, -- ready, running or dead
    attempts INTEGER NOT NULL,
    last_error TEXT,
    run_at INTEGER NOT NULL,
    lease_until INTEGER, -- of a running job
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX jobs_ready ON jobs (lane, run_at, id) WHERE state = 'ready';
CREATE INDEX jobs_running ON jobs (lease_until) WHERE state = 'running';
CREATE INDEX jobs_dead ON jobs (id) WHERE state = 'dead';
CREATE UNIQUE INDEX jobs_key ON jobs (kind, key) WHERE key IS NOT NULL AND state = 'ready';
-- Dead letters of one kind, oldest first.
CREATE INDEX jobs_dead_kind ON jobs (kind, id) WHERE state = 'dead';

-- A number in the ids that a process makes: each process leases one, so that no two make the same id.
CREATE TABLE id_nodes (
    node INTEGER PRIMARY KEY,
    holder TEXT NOT NULL,
    last_id INTEGER NOT NULL, -- the highest id at the last renewal: a clock set back never gives an older one
    lease_until INTEGER NOT NULL
) STRICT;
INSERT INTO id_nodes (node, holder, last_id, lease_until)
WITH RECURSIVE numbers (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM numbers WHERE number < 127)
SELECT number, '', 0, 0 FROM numbers;

-- A batch of changes of which a node informs the others. Rows are deleted after some minutes: a node that missed one
-- reads everything again. Not used on SQLite, which has one node.
CREATE TABLE node_changes (
    node TEXT NOT NULL,
    number INTEGER NOT NULL, -- of the node's batches, from 1
    changes TEXT NOT NULL, -- JSON list, or null after a loss
    created_at INTEGER NOT NULL,
    PRIMARY KEY (node, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX node_changes_created ON node_changes (created_at);

-- A node that listens for changes, with the time of its last sign of life.
CREATE TABLE listening_nodes (
    node TEXT PRIMARY KEY,
    seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A row that is written and deleted again, as a test for free space on the disk.
CREATE TABLE write_trials (
    slot INTEGER PRIMARY KEY,
    content BLOB NOT NULL
) STRICT;
