-- For each table the statement that reads its rows as lines of text, whatever the order of columns.
SELECT 'SELECT ''row ' || t.name || ':''' || (
    SELECT group_concat(' || '' ' || k.name || ' '' || quote("' || k.name || '")', '')
    FROM (SELECT c.name FROM pragma_table_info(t.name) c ORDER BY c.name) k) || ' FROM "' || t.name || '"'
FROM sqlite_schema t WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite|_%' ESCAPE '|' AND t.name <> '_sqlx_migrations'
