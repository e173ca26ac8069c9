-- The work of the staff: the audit log, warnings with appeals, and notes on reports.

-- Administrators get the permissions manage_plugins, manage_sensitive_words and manage_ng_words.
UPDATE roles SET permissions = permissions | 1879048192 WHERE id = 2 AND permissions & 1 = 0;

-- A change that a member of staff made. It outlives the account that made it and what it speaks of.
CREATE TABLE audit_log (
    id BIGINT PRIMARY KEY,
    account_id BIGINT, -- the member of staff, without a foreign key; NULL: an operator at the command line
    actor_name TEXT NOT NULL, -- its user name at that time
    action TEXT NOT NULL, -- such as account.suspend
    target_kind TEXT NOT NULL, -- such as account
    target_id BIGINT NOT NULL, -- without a foreign key
    target_name TEXT NOT NULL, -- as a person would call it
    details JSONB NOT NULL, -- object: the parameters of the change
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX audit_log_account ON audit_log (account_id, id);
CREATE INDEX audit_log_target ON audit_log (target_kind, target_id, id);

-- A strike: a warning of target_account_id, or an action taken on it.
CREATE TABLE account_warnings (
    id BIGINT PRIMARY KEY,
    target_account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    account_id BIGINT REFERENCES accounts (id) ON DELETE SET NULL, -- NULL: an operator, or no longer there
    report_id BIGINT REFERENCES reports (id) ON DELETE SET NULL,
    action TEXT NOT NULL, -- none, disable, sensitive, silence or suspend
    text TEXT NOT NULL,
    status_ids JSONB, -- list: the statuses of the report; NULL: none
    overruled_at TIMESTAMPTZ, -- an appeal was approved
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX account_warnings_target ON account_warnings (target_account_id, id);
CREATE INDEX account_warnings_account ON account_warnings (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX account_warnings_report ON account_warnings (report_id) WHERE report_id IS NOT NULL;

-- The objection of an account to its warning.
CREATE TABLE appeals (
    id BIGINT PRIMARY KEY,
    warning_id BIGINT NOT NULL REFERENCES account_warnings (id) ON DELETE CASCADE,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    decided_by_account_id BIGINT REFERENCES accounts (id) ON DELETE SET NULL,
    text TEXT NOT NULL,
    approved_at TIMESTAMPTZ,
    rejected_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX appeals_warning ON appeals (warning_id);
CREATE INDEX appeals_account ON appeals (account_id);
CREATE INDEX appeals_decided_by ON appeals (decided_by_account_id) WHERE decided_by_account_id IS NOT NULL;
CREATE INDEX appeals_pending ON appeals (id) WHERE approved_at IS NULL AND rejected_at IS NULL;

-- A text that moderators choose from when they warn.
CREATE TABLE warning_presets (
    id BIGINT PRIMARY KEY,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);

-- What a member of staff noted on a report, for the others.
CREATE TABLE report_notes (
    id BIGINT PRIMARY KEY,
    report_id BIGINT NOT NULL REFERENCES reports (id) ON DELETE CASCADE,
    account_id BIGINT REFERENCES accounts (id) ON DELETE SET NULL, -- NULL: an operator, or no longer there
    text TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX report_notes_report ON report_notes (report_id, id);
CREATE INDEX report_notes_account ON report_notes (account_id) WHERE account_id IS NOT NULL;

ALTER TABLE reports ADD COLUMN assigned_account_id BIGINT REFERENCES accounts (id) ON DELETE SET NULL;
ALTER TABLE reports ADD COLUMN action_taken_by_account_id BIGINT REFERENCES accounts (id) ON DELETE SET NULL;
ALTER TABLE reports ADD COLUMN updated_at TIMESTAMPTZ; -- NULL: unchanged since created_at
CREATE INDEX reports_assigned ON reports (assigned_account_id) WHERE assigned_account_id IS NOT NULL;
CREATE INDEX reports_action_taken_by ON reports (action_taken_by_account_id)
    WHERE action_taken_by_account_id IS NOT NULL;

ALTER TABLE accounts ADD COLUMN sensitized_at TIMESTAMPTZ; -- moderators mark all its media as sensitive
