-- Whoever makes invitations: those that one person makes at once wait for each other here.
CREATE TABLE inviters (
    account_id integer PRIMARY KEY
);
