-- Numbers of other servers that were stored before they were bounded.

UPDATE poll_options SET votes_count = 1000000000 WHERE votes_count > 1000000000;
UPDATE polls SET voters_count = 1000000000 WHERE voters_count > 1000000000;
