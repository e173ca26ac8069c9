-- The schema as lines of text, whatever the order of columns and of creation. Runs of spaces in SQL are made one space.
-- What versions of PostgreSQL word differently is made equal here.
WITH namespaces AS (
    SELECT n.oid, n.nspname, n.nspacl FROM pg_namespace n
    WHERE n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema'
),
relations AS (
    SELECT c.oid, c.relname, c.relkind, c.relpersistence, c.reloptions, c.relacl, c.relrowsecurity, c.relreplident,
        CASE n.nspname WHEN 'public' THEN '' ELSE n.nspname || '.' END || c.relname AS name
    FROM pg_class c JOIN namespaces n ON n.oid = c.relnamespace
    WHERE c.relname NOT LIKE '\_sqlx\_migrations%'
)
SELECT 'schema ' || n.nspname
    || CASE WHEN n.nspacl IS NOT NULL AND n.nspname <> 'public' THEN ', with privileges' ELSE '' END AS line
FROM namespaces n
UNION ALL
SELECT 'extension ' || e.extname FROM pg_extension e
UNION ALL
SELECT 'table ' || r.name || ': kind ' || r.relkind::text || ', persistence ' || r.relpersistence::text
    || coalesce(', with ' || array_to_string(r.reloptions, ' '), '')
    || CASE WHEN r.relacl IS NOT NULL THEN ', with privileges' ELSE '' END
    || CASE WHEN r.relrowsecurity THEN ', with row security' ELSE '' END
    || CASE WHEN r.relreplident NOT IN ('d', 'n') THEN ', replica identity ' || r.relreplident::text ELSE '' END
FROM relations r WHERE r.relkind NOT IN ('i', 'S')
UNION ALL
SELECT 'column ' || r.name || '.' || a.attname || ': ' || format_type(a.atttypid, a.atttypmod)
    || CASE WHEN a.attcollation <> t.typcollation THEN ' COLLATE ' || l.collname ELSE '' END
    || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
    || coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '')
    || CASE WHEN a.attidentity <> '' THEN ', identity ' || a.attidentity::text ELSE '' END
    || CASE WHEN a.attgenerated <> '' THEN ', generated ' || a.attgenerated::text ELSE '' END
    || CASE WHEN a.attstorage <> t.typstorage THEN ', storage ' || a.attstorage::text ELSE '' END
    || CASE WHEN a.attcompression <> '' THEN ', compression ' || a.attcompression::text ELSE '' END
    || CASE WHEN coalesce(a.attstattarget, -1) >= 0 THEN ', statistics ' || a.attstattarget ELSE '' END
    || coalesce(', with ' || array_to_string(a.attoptions, ' '), '')
FROM relations r JOIN pg_attribute a ON a.attrelid = r.oid JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_collation l ON l.oid = a.attcollation
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attnum > 0 AND NOT a.attisdropped AND r.relkind NOT IN ('i', 'S')
UNION ALL
SELECT 'constraint ' || r.name || ', ' || k.conname || ': '
    || regexp_replace(pg_get_constraintdef(k.oid), '\s+', ' ', 'g')
FROM relations r JOIN pg_constraint k ON k.conrelid = r.oid WHERE k.contype <> 'n'
UNION ALL
SELECT 'index ' || r.name || ': ' || pg_get_indexdef(i.indexrelid)
    || CASE WHEN i.indisreplident THEN ', replica identity' ELSE '' END
    || CASE WHEN i.indisclustered THEN ', clustered' ELSE '' END
    || coalesce(', statistics ' || (
        SELECT string_agg(a.attname || ' ' || a.attstattarget, ', ' ORDER BY a.attnum)
        FROM pg_attribute a WHERE a.attrelid = r.oid AND a.attstattarget >= 0), '')
FROM relations r JOIN pg_index i ON i.indexrelid = r.oid
UNION ALL
SELECT 'sequence ' || r.name || ': ' || format_type(s.seqtypid, NULL) || ', start ' || s.seqstart
    || ', step ' || s.seqincrement || ', from ' || s.seqmin || ' to ' || s.seqmax || ', cache ' || s.seqcache || ', cycle ' || s.seqcycle
FROM relations r JOIN pg_sequence s ON s.seqrelid = r.oid
UNION ALL
-- Columns of a view of one table are qualified up to PostgreSQL 15 and not from 16 on.
SELECT 'view ' || r.name || ': '
    || CASE WHEN v.text LIKE '%JOIN%' THEN v.text ELSE regexp_replace(v.text, '\m[a-z]{1,2}\.', '', 'g') END
FROM relations r, LATERAL (SELECT trim(regexp_replace(pg_get_viewdef(r.oid), '\s+', ' ', 'g')) AS text) v
WHERE r.relkind IN ('v', 'm')
UNION ALL
SELECT 'rule ' || r.name || ': ' || pg_get_ruledef(w.oid)
FROM relations r JOIN pg_rewrite w ON w.ev_class = r.oid WHERE w.rulename <> '_RETURN'
UNION ALL
SELECT 'trigger ' || r.name || ': ' || pg_get_triggerdef(t.oid)
FROM relations r JOIN pg_trigger t ON t.tgrelid = r.oid WHERE NOT t.tgisinternal
UNION ALL
SELECT 'function ' || p.oid::regprocedure || ': ' || trim(regexp_replace(pg_get_functiondef(p.oid), '\s+', ' ', 'g'))
    || CASE WHEN p.proacl IS NOT NULL THEN ', with privileges' ELSE '' END
FROM pg_proc p JOIN namespaces n ON n.oid = p.pronamespace WHERE p.prokind IN ('f', 'p')
UNION ALL
SELECT 'type ' || t.oid::regtype || ': ' || t.typtype::text
FROM pg_type t JOIN namespaces n ON n.oid = t.typnamespace WHERE t.typtype IN ('d', 'e', 'r')
UNION ALL
SELECT 'statistics ' || s.stxname || ': ' || pg_get_statisticsobjdef(s.oid)
FROM pg_statistic_ext s JOIN namespaces n ON n.oid = s.stxnamespace
UNION ALL
SELECT 'comment ' || r.name || '.' || d.objsubid || ': ' || d.description
FROM relations r JOIN pg_description d ON d.objoid = r.oid AND d.classoid = 'pg_class'::regclass
