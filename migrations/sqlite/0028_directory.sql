-- The directory of profiles, in both of its orders, of everyone and of this server: discoverable is what everyone in it is.
CREATE INDEX accounts_directory_active ON accounts (last_status_at, id) WHERE discoverable;
CREATE INDEX accounts_directory_active_local ON accounts (last_status_at, id) WHERE discoverable AND domain IS NULL;
CREATE INDEX accounts_directory_new ON accounts (id) WHERE discoverable;
CREATE INDEX accounts_directory_new_local ON accounts (id) WHERE discoverable AND domain IS NULL;
