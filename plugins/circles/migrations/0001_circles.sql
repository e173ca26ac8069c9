CREATE TABLE circles (
    id integer PRIMARY KEY,
    account_id integer NOT NULL,
    title text NOT NULL
);
CREATE INDEX circles_account ON circles (account_id, id);

-- Whoever makes circles or adds to them: requests at once wait for each other here.
CREATE TABLE owners (
    account_id integer PRIMARY KEY
);

-- account_id: the circle's owner, again. follow_id: the follow of the owner by the member, with which the membership ends:
-- a later follow by the same account is another.
CREATE TABLE members (
    circle_id integer NOT NULL REFERENCES circles (id) ON DELETE CASCADE,
    member_id integer NOT NULL,
    account_id integer NOT NULL,
    follow_id integer NOT NULL,
    PRIMARY KEY (circle_id, member_id)
);
CREATE INDEX members_account ON members (account_id, member_id);

-- What was posted to a circle. account_id: the circle's owner, and the author.
CREATE TABLE entries (
    circle_id integer NOT NULL REFERENCES circles (id) ON DELETE CASCADE,
    status_id integer NOT NULL,
    account_id integer NOT NULL,
    PRIMARY KEY (circle_id, status_id)
);
CREATE INDEX entries_status ON entries (status_id);
CREATE INDEX entries_account ON entries (account_id);
