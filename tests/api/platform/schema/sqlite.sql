-- The schema as lines of text, whatever the order of columns and of creation. Runs of spaces in SQL are made one space.
WITH objects AS (
    SELECT o.type, o.name, o.tbl_name AS place, upper(o.sql) AS shouted,
        trim(replace(replace(replace(replace(o.sql, char(10), ' '), ' ', ' ' || char(1)), char(1) || ' ', ''), char(1), '')) AS text
    FROM sqlite_schema o
    WHERE o.name NOT LIKE 'sqlite|_%' ESCAPE '|' AND o.tbl_name <> '_sqlx_migrations'
),
tables AS (SELECT o.name, o.shouted FROM objects o WHERE o.type = 'table')
SELECT 'table ' || l.name || ': ' || l.type || CASE WHEN l.strict THEN ', strict' ELSE '' END
    || CASE WHEN l.wr THEN ', without rowid' ELSE '' END
    || CASE WHEN t.shouted LIKE '%AUTOINCREMENT%' THEN ', autoincrement' ELSE '' END
    || CASE WHEN t.shouted LIKE '%CHECK%' OR t.shouted LIKE '%COLLATE%' OR t.shouted LIKE '%DEFERR%'
        OR t.shouted LIKE '%CONFLICT%' OR t.shouted LIKE '%VIRTUAL%' THEN ', as in ' || t.shouted ELSE '' END AS line
FROM tables t JOIN pragma_table_list l ON l.name = t.name AND l.schema = 'main'
UNION ALL
SELECT 'column ' || t.name || '.' || c.name || ': ' || c.type || CASE WHEN c."notnull" THEN ' NOT NULL' ELSE '' END
    || coalesce(' DEFAULT ' || c.dflt_value, '') || CASE WHEN c.hidden THEN ', hidden ' || c.hidden ELSE '' END
FROM tables t JOIN pragma_table_xinfo(t.name) c
UNION ALL
SELECT 'primary key ' || t.name || ': ' || (
    SELECT group_concat(k.name, ', ') FROM (SELECT c.name FROM pragma_table_info(t.name) c WHERE c.pk > 0 ORDER BY c.pk) k)
FROM tables t WHERE EXISTS (SELECT 1 FROM pragma_table_info(t.name) c WHERE c.pk > 0)
UNION ALL
SELECT 'unique ' || t.name || ': ' || (
    SELECT group_concat(k.name, ', ') FROM (SELECT c.name FROM pragma_index_info(i.name) c ORDER BY c.seqno) k)
FROM tables t JOIN pragma_index_list(t.name) i WHERE i.origin = 'u'
UNION ALL
SELECT 'foreign key ' || t.name || ': ' || f."from" || ' REFERENCES ' || f."table" || ' (' || coalesce(f."to", '') || ') part '
    || f.seq || ', on update ' || f.on_update || ', on delete ' || f.on_delete || ', match ' || f."match"
FROM tables t JOIN pragma_foreign_key_list(t.name) f
UNION ALL
SELECT o.type || ' ' || o.name || ': ' || o.text FROM objects o WHERE o.type <> 'table' AND o.text IS NOT NULL
UNION ALL
SELECT 'index ' || i.name || ' of ' || t.name || ', column ' || c.seqno || ': ' || coalesce(c.name, 'an expression')
    || CASE WHEN c."desc" THEN ' DESC' ELSE '' END || ' COLLATE ' || c.coll || CASE WHEN i."unique" THEN ', unique' ELSE '' END
    || CASE WHEN i.partial THEN ', partial' ELSE '' END
FROM tables t JOIN pragma_index_list(t.name) i JOIN pragma_index_xinfo(i.name) c WHERE i.origin = 'c' AND c.key
