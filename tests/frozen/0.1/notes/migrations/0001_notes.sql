CREATE TABLE notes (
    account_id BIGINT NOT NULL,
    target_id BIGINT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (account_id, target_id)
);
