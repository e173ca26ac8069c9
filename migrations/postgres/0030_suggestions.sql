-- Whom an account does not want to be suggested again, for ever.
CREATE TABLE suggestion_dismissals (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target_account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    PRIMARY KEY (account_id, target_account_id)
);
CREATE INDEX suggestion_dismissals_target ON suggestion_dismissals (target_account_id);
