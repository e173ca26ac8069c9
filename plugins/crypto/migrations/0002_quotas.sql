-- size: bytes of a message as it is kept; 0 for those from before.
ALTER TABLE messages ADD COLUMN size integer NOT NULL DEFAULT 0;
-- What waits for a person, from each sender, and what a sender left for all, by these indexes alone.
CREATE INDEX messages_sizes ON messages (account_id, from_account_id, size);
CREATE INDEX messages_sent ON messages (from_account_id, size);
CREATE INDEX messages_created ON messages (created_at);

-- How many one-time keys of a device somebody claimed within an hour. hour: since the epoch.
CREATE TABLE claims (
    asker integer NOT NULL,
    device integer NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    hour integer NOT NULL,
    count integer NOT NULL,
    PRIMARY KEY (asker, device)
);
CREATE INDEX claims_device ON claims (device);
CREATE INDEX claims_hour ON claims (hour);
