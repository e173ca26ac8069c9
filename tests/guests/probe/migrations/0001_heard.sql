CREATE TABLE heard (
    seq BIGINT NOT NULL,
    kind TEXT NOT NULL,
    about BIGINT NOT NULL,
    detail TEXT NOT NULL
);
