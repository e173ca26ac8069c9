-- Servers that pass on public statuses to their subscribers.

CREATE TABLE relays (
    id BIGINT PRIMARY KEY,
    inbox_url TEXT NOT NULL,
    actor_uri TEXT, -- NULL: not known until the relay responds
    kind TEXT NOT NULL, -- mastodon or litepub
    state TEXT NOT NULL, -- idle, pending, accepted or rejected
    follow_activity_id TEXT, -- of the last follow; NULL: never followed, or undone
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX relays_inbox ON relays (inbox_url);
CREATE INDEX relays_actor ON relays (actor_uri);
CREATE INDEX relays_follow ON relays (follow_activity_id);
