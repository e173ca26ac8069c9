-- How many people signed up on each day without an invitation, for the limit of sign-ups.

CREATE TABLE sign_up_days (
    day BIGINT PRIMARY KEY, -- in UTC, counted from the epoch
    sign_ups BIGINT NOT NULL
);
