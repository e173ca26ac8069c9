-- What was sent to the translation service. day: counted from the epoch, in UTC.
CREATE TABLE translation_use (day BIGINT PRIMARY KEY, characters BIGINT NOT NULL);
