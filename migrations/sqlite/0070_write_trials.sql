-- A row that is written and deleted again to find out whether there is room on the disk.
CREATE TABLE write_trials (slot INTEGER PRIMARY KEY, content BLOB NOT NULL) STRICT;
