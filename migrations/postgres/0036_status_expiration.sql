-- When the status is to be deleted; a job does it. None unless its text says so.
ALTER TABLE statuses ADD COLUMN expires_at TIMESTAMPTZ;
