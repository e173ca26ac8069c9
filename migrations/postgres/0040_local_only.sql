-- A status that stays on this server: no other server receives it.

ALTER TABLE statuses ADD COLUMN local_only BOOLEAN NOT NULL DEFAULT FALSE;
