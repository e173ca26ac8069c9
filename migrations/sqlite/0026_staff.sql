-- The work of the staff: the audit log, warnings with appeals, and notes on reports.

-- Administrators get the permissions manage_plugins, manage_sensitive_words and manage_ng_words.
UPDATE roles SET permissions = permissions | 1879048192 WHERE id = 2 AND permissions & 1 = 0;

-- A change that a member of staff made. It outlives the account that made it and what it speaks of.
CREATE TABLE audit_log (
    id INTEGER PRIMARY KEY,
    account_id INTEGER, -- the member of staff, without a foreign key; NULL: an operator at the command line
    actor_name TEXT NOT NULL, -- its user name at that time
    action TEXT NOT NULL, -- such as account.suspend
    target_kind TEXT NOT NULL, -- such as account
    target_id INTEGER NOT NULL, -- without a foreign key
    target_name TEXT NOT NULL, -- as a person would call it
    details TEXT NOT NULL, -- object: the parameters of the change
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX audit_log_account ON audit_log (account_id, id);
CREATE INDEX audit_log_target ON audit_log (target_kind, target_id, id);

-- A strike: a warning of target_account_id, or an action taken on it.
CREATE TABLE account_warnings (
    id INTEGER PRIMARY KEY,
    target_account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL, -- NULL: an operator, or no longer there
    report_id INTEGER REFERENCES reports (id) ON DELETE SET NULL,
    action TEXT NOT NULL, -- none, disable, sensitive, silence or suspend
    text TEXT NOT NULL,
    status_ids TEXT, -- list: the statuses of the report; NULL: none
    overruled_at INTEGER, -- an appeal was approved
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX account_warnings_target ON account_warnings (target_account_id, id);
CREATE INDEX account_warnings_account ON account_warnings (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX account_warnings_report ON account_warnings (report_id) WHERE report_id IS NOT NULL;

-- The objection of an account to its warning.
CREATE TABLE appeals (
    id INTEGER PRIMARY KEY,
    warning_id INTEGER NOT NULL REFERENCES account_warnings (id) ON DELETE CASCADE,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    decided_by_account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
    text TEXT NOT NULL,
    approved_at INTEGER,
    rejected_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX appeals_warning ON appeals (warning_id);
CREATE INDEX appeals_account ON appeals (account_id);
CREATE INDEX appeals_decided_by ON appeals (decided_by_account_id) WHERE decided_by_account_id IS NOT NULL;
CREATE INDEX appeals_pending ON appeals (id) WHERE approved_at IS NULL AND rejected_at IS NULL;

-- A text that moderators choose from when they warn.
CREATE TABLE warning_presets (
    id INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- What a member of staff noted on a report, for the others.
CREATE TABLE report_notes (
    id INTEGER PRIMARY KEY,
    report_id INTEGER NOT NULL REFERENCES reports (id) ON DELETE CASCADE,
    account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL, -- NULL: an operator, or no longer there
    text TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX report_notes_report ON report_notes (report_id, id);
CREATE INDEX report_notes_account ON report_notes (account_id) WHERE account_id IS NOT NULL;

ALTER TABLE reports ADD COLUMN assigned_account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL;
ALTER TABLE reports ADD COLUMN action_taken_by_account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL;
ALTER TABLE reports ADD COLUMN updated_at INTEGER; -- NULL: unchanged since created_at
CREATE INDEX reports_assigned ON reports (assigned_account_id) WHERE assigned_account_id IS NOT NULL;
CREATE INDEX reports_action_taken_by ON reports (action_taken_by_account_id)
    WHERE action_taken_by_account_id IS NOT NULL;

ALTER TABLE accounts ADD COLUMN sensitized_at INTEGER; -- moderators mark all its media as sensitive
