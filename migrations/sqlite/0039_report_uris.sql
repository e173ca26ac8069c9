-- Reports by other servers: the id of the activity, so that one that is sent again makes no second report.

ALTER TABLE reports ADD COLUMN uri TEXT;
CREATE UNIQUE INDEX reports_uri ON reports (uri, target_account_id) WHERE uri IS NOT NULL;
