-- What was sent to the translation service. day: counted from the epoch, in UTC.
CREATE TABLE translation_use (day INTEGER PRIMARY KEY, characters INTEGER NOT NULL) STRICT;
