-- For each table the statement that reads its rows as lines of text, whatever the order of columns. Times are seconds.
SELECT format('SELECT ''row %s:''', c.relname) || string_agg(
        format(' || '' %s '' || quote_nullable(', a.attname)
            || format(CASE a.atttypid WHEN 'timestamptz'::regtype THEN 'EXTRACT(EPOCH FROM %I)::bigint' ELSE '%I' END, a.attname)
            || ')', '' ORDER BY a.attname)
    || format(' FROM %I', c.relname)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname <> '_sqlx_migrations'
    AND a.attnum > 0 AND NOT a.attisdropped
GROUP BY c.relname
