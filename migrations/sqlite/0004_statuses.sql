-- Statuses, their threads, revisions, mentions and references, and scheduled statuses.

-- A thread of statuses, which is never deleted. The view of a participant is in account_conversations.
CREATE TABLE conversations (
    id INTEGER PRIMARY KEY,
    owner_account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL, -- NULL: the author of its first status
    uri TEXT,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX conversations_uri ON conversations (uri) WHERE uri IS NOT NULL;
CREATE INDEX conversations_owner ON conversations (owner_account_id) WHERE owner_account_id IS NOT NULL;

-- A status, or a reblog of one.
CREATE TABLE statuses (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    conversation_id INTEGER REFERENCES conversations (id) ON DELETE SET NULL,
    in_reply_to_id INTEGER REFERENCES statuses (id) ON DELETE SET NULL,
    in_reply_to_account_id INTEGER, -- kept when the status it replies to is deleted
    reblog_of_id INTEGER REFERENCES statuses (id) ON DELETE CASCADE,
    quote_id INTEGER, -- the quoted one of its references; a foreign key would need an index for every deletion
    app_id INTEGER, -- the application it was posted with
    uri TEXT NOT NULL, -- the id of the object (ActivityPub); of a local status it follows from the id
    url TEXT, -- the page of the status
    local INTEGER NOT NULL,
    text TEXT NOT NULL, -- as a local author wrote it; empty for a remote status
    content TEXT NOT NULL, -- HTML, rendered from text when it is written, or sanitised when it is received
    markdown INTEGER NOT NULL DEFAULT FALSE, -- text is Markdown
    spoiler_text TEXT NOT NULL,
    sensitive INTEGER NOT NULL,
    language TEXT,
    visibility TEXT NOT NULL, -- public, public_unlisted, login, unlisted, private, limited or direct
    limited_scope TEXT, -- audience of a limited status: mutual, circle, personal or reply
    searchability TEXT NOT NULL,
    -- Of a publicly readable status: public, followers or nobody; others cannot be quoted.
    quote_policy TEXT NOT NULL DEFAULT 'public',
    listed INTEGER NOT NULL, -- shown on public timelines: no reblog, and no reply to another account
    has_media INTEGER NOT NULL,
    has_poll INTEGER NOT NULL DEFAULT FALSE,
    -- Has rows in status_references, or had before their targets were deleted.
    has_references INTEGER NOT NULL DEFAULT FALSE,
    trendable INTEGER, -- the decision of a review, before that about its author; NULL: no review
    replies_count INTEGER NOT NULL,
    reblogs_count INTEGER NOT NULL,
    favourites_count INTEGER NOT NULL,
    referred_by_count INTEGER NOT NULL DEFAULT 0, -- publicly readable statuses with a reference to it
    quotes_count INTEGER NOT NULL DEFAULT 0, -- publicly readable statuses that quote it
    created_at INTEGER NOT NULL,
    edited_at INTEGER,
    expires_at INTEGER, -- the time at which a job deletes it, stated by its text
    version INTEGER NOT NULL -- grows with every change that clients can see; part of the key of cached renderings
) STRICT;
CREATE INDEX statuses_account ON statuses (account_id, id);
CREATE UNIQUE INDEX statuses_reblog ON statuses (account_id, reblog_of_id) WHERE reblog_of_id IS NOT NULL;
CREATE INDEX statuses_reblogs ON statuses (reblog_of_id, id) WHERE reblog_of_id IS NOT NULL;
CREATE INDEX statuses_replies ON statuses (in_reply_to_id, id) WHERE in_reply_to_id IS NOT NULL;
CREATE INDEX statuses_listed ON statuses (id) WHERE listed;
CREATE INDEX statuses_media ON statuses (account_id, id) WHERE has_media;
CREATE UNIQUE INDEX statuses_uri ON statuses (uri) WHERE NOT local;
-- The local timeline, and the local statuses of each week.
CREATE INDEX statuses_local ON statuses (listed, id) WHERE local;
CREATE INDEX statuses_url ON statuses (url) WHERE NOT local AND url IS NOT NULL;
-- The authors of limited statuses in a conversation, for notifications of audiences.
CREATE INDEX statuses_limited_conversation ON statuses (conversation_id, account_id) WHERE visibility = 'limited';
CREATE INDEX statuses_quoting ON statuses (quote_id, id) WHERE quote_id IS NOT NULL;

-- A former revision of a status.
CREATE TABLE status_edits (
    id INTEGER PRIMARY KEY,
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    text TEXT NOT NULL,
    content TEXT NOT NULL,
    markdown INTEGER NOT NULL DEFAULT FALSE,
    spoiler_text TEXT NOT NULL,
    sensitive INTEGER NOT NULL,
    media TEXT NOT NULL, -- the attachments as rendered for clients
    poll_options TEXT, -- list of the texts of the poll's options; NULL: no poll
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX status_edits_status ON status_edits (status_id, id);

-- An account that a status is addressed to.
CREATE TABLE mentions (
    id INTEGER PRIMARY KEY,
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    silent INTEGER NOT NULL -- the account may see the status, and the text does not name it
) STRICT;
CREATE UNIQUE INDEX mentions_status ON mentions (status_id, account_id);
CREATE INDEX mentions_account ON mentions (account_id, status_id);
-- The mentions in the text, apart from an audience of many.
CREATE INDEX mentions_in_text ON mentions (status_id, account_id) WHERE NOT silent;

-- A reference of a status to another one, which is no reblog.
CREATE TABLE status_references (
    target_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    id INTEGER NOT NULL, -- the activity of a notification
    position INTEGER NOT NULL, -- among the references of the status, from 0
    in_text INTEGER NOT NULL, -- the text names the target; otherwise the request that published the status
    PRIMARY KEY (target_id, status_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX status_references_status ON status_references (status_id, position);

-- A quote that the author of its target revoked: status_id does not quote target_id again, whatever its text states.
CREATE TABLE quote_revocations (
    status_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    target_id INTEGER NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (status_id, target_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX quote_revocations_target ON quote_revocations (target_id);

-- A status to publish later.
CREATE TABLE scheduled_statuses (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    params TEXT NOT NULL, -- the request
    failure TEXT, -- the reason why it was not published in time; NULL before, and after it got another time
    scheduled_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX scheduled_statuses_account ON scheduled_statuses (account_id, id);

-- The key of a request, kept for an hour: a repeated request gets the first answer
-- (docs/contract/rules.md#10-statuses).
CREATE TABLE idempotency_keys (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    -- Of statuses or scheduled_statuses, without a foreign key: looked up when the key is used again.
    status_id INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);
