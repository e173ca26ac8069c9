//! Accepted and refused statements.

use proptest::prelude::*;

use super::*;
use database::confined::ParamType;

fn scope() -> Scope {
    Scope {
        name: "notes".to_owned(),
        prefix: "p_notes__".to_owned(),
        schema: "p_notes".to_owned(),
        role: "p_0_notes".to_owned(),
        views: ["statuses", "accounts"].map(str::to_owned).into(),
        migrating: false,
    }
}

fn check(engine: Engine, source: &str) -> Result<Checked, String> {
    let params = [
        ("id".to_owned(), ParamType::Integer),
        ("ids".to_owned(), ParamType::Integers),
        ("items".to_owned(), ParamType::Json),
    ];
    let read = text::read(source, &params, engine)?;
    statement(Rules { scope: &scope(), engine }, read.tokens, None, 10)
}

fn change(engine: Engine, source: &str) -> Result<Vec<Checked>, String> {
    migration(Rules { scope: &scope(), engine }, text::read(source, &[], engine)?.tokens)
}

const BOTH: [Engine; 2] = [Engine::Sqlite, Engine::Postgres];

/// A statement, and part of the reason for which it is refused.
const REFUSED: &[(&str, &str)] = &[
    // Changes to the session, the server or its files.
    ("ATTACH DATABASE 'x.db' AS x", "only SELECT"),
    ("PRAGMA writable_schema = 1", "only SELECT"),
    ("VACUUM", ""),
    ("SET ROLE rookery", "only SELECT"),
    ("RESET ROLE", ""),
    ("SET SESSION AUTHORIZATION DEFAULT", ""),
    ("COPY notes FROM PROGRAM 'id'", "only SELECT"),
    ("COPY notes TO '/tmp/x'", "only SELECT"),
    ("DO $$ BEGIN END $$", ""),
    ("CALL f()", "only SELECT"),
    ("LISTEN x", "only SELECT"),
    ("BEGIN", "only SELECT"),
    ("COMMIT", "only SELECT"),
    ("ROLLBACK", "only SELECT"),
    ("SAVEPOINT x", "only SELECT"),
    ("EXPLAIN SELECT id FROM notes", "only SELECT"),
    ("GRANT ALL ON notes TO PUBLIC", "only SELECT"),
    ("CREATE TABLE x (id INTEGER)", "only SELECT"),
    ("DROP TABLE notes", "only SELECT"),
    ("TRUNCATE notes", "only SELECT"),
    ("PREPARE x AS SELECT 1", ""),
    // Functions.
    ("SELECT load_extension('x.so')", "load_extension"),
    ("SELECT pg_read_file('/etc/passwd')", "pg_read_file"),
    ("SELECT pg_catalog.pg_read_file('/etc/passwd')", "pg_read_file"),
    ("SELECT set_config('role', 'none', true)", "set_config"),
    ("SELECT query_to_xml('select 1', true, true, '')", "query_to_xml"),
    ("SELECT pg_sleep(100)", "pg_sleep"),
    ("SELECT lo_import('/etc/passwd')", "lo_import"),
    ("SELECT readfile('/etc/passwd')", "readfile"),
    ("SELECT randomblob(1000000000)", "randomblob"),
    ("SELECT printf('%.*c', 1000000000, 'x')", "printf"),
    ("SELECT id FROM notes WHERE id IN (SELECT pg_backend_pid())", "pg_backend_pid"),
    ("SELECT count(*) FILTER (WHERE pg_sleep(1) IS NULL) FROM notes", "pg_sleep"),
    ("INSERT INTO notes (id) VALUES (nextval('x'))", "nextval"),
    ("SELECT id FROM notes ORDER BY pg_sleep(1)", "pg_sleep"),
    ("SELECT value FROM generate_series(1, 1000000000)", "generate_series"),
    ("SELECT path FROM pragma_table_info('accounts')", "pragma_table_info"),
    // Functions and operators that nothing interrupts.
    ("SELECT unhex(title, title) FROM notes", "unhex"),
    ("SELECT id FROM notes WHERE title ~ '(a*)*b'", "operator"),
    ("SELECT id FROM notes WHERE title ~* ANY(:ids)", "operator"),
    ("SELECT id FROM notes WHERE title SIMILAR TO '(a*)*b'", "SIMILAR TO"),
    ("SELECT id FROM notes WHERE title REGEXP 'a'", ""),
    ("SELECT id FROM notes WHERE extra @@ '$.a like_regex \"(a*)*b\"'", ""),
    ("SELECT id ^ id FROM notes", ""),
    ("SELECT |/ id FROM notes", ""),
    ("SELECT 1e65000 * 1e65000", "digits"),
    ("SELECT 12345678901234567890123456789012345678901", "digits"),
    // Schemas out of reach.
    ("SELECT private_key FROM public.accounts", "public.accounts"),
    ("SELECT private_key FROM main.accounts", "main.accounts"),
    ("SELECT id FROM p_other.notes", "p_other.notes"),
    ("SELECT id FROM core_v1.follows", "not granted"),
    ("SELECT id FROM core_v1.users", "not granted"),
    ("SELECT id FROM rookery.core_v1.accounts", "rookery.core_v1.accounts"),
    ("SELECT sql FROM sqlite_master", "sqlite_master"),
    ("SELECT rolpassword FROM pg_authid", "pg_authid"),
    ("SELECT rolpassword FROM pg_catalog.pg_authid", "pg_authid"),
    ("SELECT tablename FROM information_schema.tables", "information_schema"),
    ("UPDATE core_v1.accounts SET username = 'x'", "core_v1.accounts"),
    ("INSERT INTO public.accounts (id) VALUES (1)", "public.accounts"),
    ("DELETE FROM core_v1.statuses", "core_v1.statuses"),
    ("UPDATE notes SET title = (SELECT private_key FROM public.accounts)", "public.accounts"),
    ("INSERT INTO notes (title) SELECT email FROM public.users", "public.users"),
    ("WITH x AS (SELECT email FROM public.users) SELECT email FROM x", "public.users"),
    ("WITH x AS (DELETE FROM public.users RETURNING id) SELECT id FROM x", "public.users"),
    ("SELECT id FROM notes WHERE EXISTS (SELECT 1 FROM main.users)", "main.users"),
    ("SELECT id FROM \"public\".\"users\"", "public"),
    ("SELECT id FROM notes UNION SELECT id FROM main.users", "main.users"),
    ("TABLE accounts", ""),
    ("SELECT id FROM \"p_other__notes; --\"", ""),
    ("SELECT id INTO accounts FROM notes", "SELECT INTO"),
    // Statements that end a shared transaction.
    ("INSERT OR ROLLBACK INTO notes (id) VALUES (1)", "write ON CONFLICT"),
    ("INSERT OR REPLACE INTO notes (id) VALUES (1)", "write ON CONFLICT"),
    ("UPDATE OR ROLLBACK notes SET id = 1", "write ON CONFLICT"),
    // Denial of service.
    ("WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT n FROM x", "RECURSIVE"),
    ("SELECT a.id FROM notes a, notes b, notes c", "JOIN"),
    ("SELECT a.id FROM notes a CROSS JOIN notes b", "JOIN"),
    ("SELECT a.id FROM notes a NATURAL JOIN notes b", "JOIN"),
    // Fragile under migrations, or impossible to review.
    ("SELECT * FROM notes", "name them"),
    ("SELECT n.* FROM notes n", "name them"),
    ("DELETE FROM notes RETURNING *", "name them"),
    ("SELECT id FROM notes WHERE id = $1", "placeholder"),
    ("SELECT id FROM notes WHERE id = :other", ":other"),
    ("SELECT id FROM notes WHERE id {in:id}", "no list"),
    ("SELECT id FROM notes WHERE id {oops}", "oops"),
    ("SELECT id FROM notes FOR UPDATE", "FOR UPDATE"),
    ("SELECT 1; SELECT 2", "exactly one"),
    ("", "exactly one"),
    ("SELECT 'x'::regclass", "regclass"),
    ("SELECT CAST('x' AS regproc)", "regproc"),
    ("SELECT id FROM notes WHERE id = ?", ""),
    ("SELECT 1 +", ""),
    ("MERGE INTO notes USING notes ON TRUE WHEN MATCHED THEN DELETE", ""),
];

/// Words of one engine are a syntax error on the other, so that reason is accepted as well.
fn is_why(refused: &str, why: &str) -> bool {
    refused.contains(why) || refused.starts_with("it cannot be understood") || refused.starts_with("it cannot be read")
}

#[test]
fn statements_beyond_the_plugin_are_refused() {
    for engine in BOTH {
        for (source, why) in REFUSED {
            match check(engine, source) {
                Ok(checked) => panic!("{engine:?} would run {}", checked.text),
                Err(refused) => {
                    assert!(is_why(&refused, why), "{engine:?} refuses {source} for another reason: {refused}");
                    assert!(!refused.contains('\n'), "one sentence: {refused}");
                }
            }
        }
    }
}

/// The author's text, and the text that SQLite and PostgreSQL run instead; empty where the engine lacks it.
const BOUNDED: &[(&str, &str, &str)] = &[
    ("instr(title, :id)", "rookery_instr(title, $1)", ""),
    ("strpos(title, :id)", "", "strpos(title, core_v1.short($1))"),
    ("POSITION(:id IN title)", "", "POSITION(core_v1.short($1) IN title)"),
    ("ltrim(title, lower(title))", "rookery_ltrim(title, lower(title))", "ltrim(title, core_v1.short(lower(title)))"),
    ("TRIM(title)", "rookery_trim(title)", "TRIM(title)"),
    ("TRIM(LEADING 'x' FROM title)", "rookery_ltrim(title, 'x')", "TRIM(LEADING 'x' FROM title)"),
    (
        "replace(title, 'a', :id)",
        "rookery_replace(title, 'a', $1)",
        "core_v1.bounded(replace(title, 'a', core_v1.short($1)))",
    ),
    ("title LIKE 'a%'", "title LIKE 'a%'", "title LIKE 'a%'"),
    ("title LIKE '%' || :id", "title LIKE '%' || $1", "title LIKE core_v1.short('%' || $1)"),
    ("title || title", "title || title", "core_v1.bounded(title || title)"),
    ("json_group_array(id)", "rookery_json_group_array(id)", ""),
    ("jsonb_agg(id) FILTER (WHERE id > 1)", "", "core_v1.bounded(jsonb_agg(id) FILTER (WHERE id > 1))"),
    ("power(id, 2)", "power(id, 2)", "power(CAST(id AS DOUBLE PRECISION), CAST(2 AS DOUBLE PRECISION))"),
    ("id * 2", "id * 2", "id * 2"),
    ("id * id", "id * id", "core_v1.bounded_number(id * id)"),
];

#[test]
fn calls_that_nothing_interrupts_are_bounded() {
    for (source, sqlite, postgres) in BOUNDED {
        for (engine, expected) in [(Engine::Sqlite, sqlite), (Engine::Postgres, postgres)] {
            let text = match check(engine, &format!("SELECT {source} AS x FROM notes")) {
                Ok(checked) => checked.text,
                Err(refused) => panic!("{engine:?} refuses {source}: {refused}"),
            };
            assert!(expected.is_empty() || text.contains(&format!("SELECT {expected} AS x")), "{source}: {text}");
        }
    }
    let long = "x".repeat(101);
    let many = "id, ".repeat(32);
    for engine in BOTH {
        for source in
            [format!("title LIKE '{long}'"), format!("replace(title, '{long}', '')"), format!("concat({many} id)")]
        {
            assert!(check(engine, &format!("SELECT {source} AS x FROM notes")).is_err(), "{source}");
        }
    }
}

#[test]
fn names_move_into_the_name_space() {
    let source =
        "WITH accounts AS (SELECT id FROM notes) SELECT core_v1.statuses.id, a.id, accounts.id FROM core_v1.statuses
                  JOIN notes a ON a.id = core_v1.statuses.id JOIN accounts ON accounts.id = a.id";
    let sqlite = check(Engine::Sqlite, source).unwrap();
    assert_eq!(
        sqlite.text,
        "/* p_notes */ WITH c__accounts AS (SELECT id FROM p_notes__notes AS notes) SELECT statuses.id, a.id, accounts.id \
         FROM main.core_v1__statuses AS statuses JOIN p_notes__notes a ON a.id = statuses.id \
         JOIN c__accounts AS accounts ON accounts.id = a.id LIMIT 11"
    );
    assert_eq!(sqlite.reads.into_iter().collect::<Vec<_>>(), ["core_v1.statuses", "notes"]);
    assert!(!sqlite.writes);
    let postgres = check(Engine::Postgres, source).unwrap().text;
    assert!(postgres.contains("FROM core_v1.statuses AS statuses JOIN p_notes.\"notes\" a ON"), "{postgres}");
}

#[test]
fn common_table_hides_no_server_table() {
    // The name of the common table expression is used outside of its scope.
    let source = "SELECT (WITH accounts AS (SELECT 1 AS x) SELECT x FROM accounts), private_key FROM accounts";
    let text = check(Engine::Sqlite, source).unwrap().text;
    assert!(text.ends_with("FROM c__accounts AS accounts LIMIT 11"), "{text}");
}

#[test]
fn changes_are_distinguished_from_reads() {
    for engine in BOTH {
        let upsert = "INSERT INTO notes (id) VALUES (:id) ON CONFLICT (id) DO UPDATE SET";
        for (source, growth) in [
            ("INSERT INTO notes (id, title) VALUES (:id, 'x') RETURNING id", Growth::Params),
            (&format!("{upsert} id = excluded.id RETURNING id"), Growth::Params),
            (&format!("{upsert} id = excluded.id + notes.id RETURNING id"), Growth::Any),
            ("INSERT INTO notes (id, title) VALUES (:id, replace(:ids, 'a', 'b'))", Growth::Any),
            ("INSERT INTO notes (id, title) VALUES (:id, :id)", Growth::Any),
            (&format!("INSERT INTO notes (title) VALUES ('{}')", "x".repeat(100)), Growth::Any),
            ("INSERT INTO notes (id) SELECT id FROM notes WHERE TRUE", Growth::Any),
            ("UPDATE notes SET id = 1 WHERE notes.id = :id", Growth::Any),
            ("DELETE FROM notes WHERE id {in:ids}", Growth::Nothing),
            ("WITH x AS (SELECT id FROM notes) DELETE FROM notes WHERE id IN (SELECT id FROM x)", Growth::Nothing),
        ] {
            let checked = check(engine, source).unwrap();
            assert!(checked.writes && checked.growth == growth, "{source}: {:?}", checked.growth);
            assert!(checked.changes.contains("notes"), "{source}");
        }
    }
}

/// A migration, and part of the reason for which it is refused.
const REFUSED_CHANGES: &[(&str, &str)] = &[
    ("CREATE TABLE public.x (id INTEGER)", "bare names"),
    ("CREATE TEMPORARY TABLE x (id INTEGER)", "beyond columns"),
    ("CREATE TABLE x AS SELECT 1", "beyond columns"),
    ("CREATE TABLE x (id INTEGER) INHERITS (accounts)", ""),
    ("CREATE TABLE x (id SERIAL)", "serial"),
    ("CREATE TABLE x (id INTEGER UNIQUE ON CONFLICT ROLLBACK)", "ON CONFLICT"),
    ("CREATE TABLE x (id INTEGER, UNIQUE (id) ON CONFLICT ROLLBACK)", ""),
    ("INSERT OR ROLLBACK INTO notes (id) VALUES (1)", "write ON CONFLICT"),
    ("CREATE TABLE x (id INTEGER REFERENCES core_v1.accounts (id))", "plugin's own"),
    ("CREATE TABLE x (id INTEGER, FOREIGN KEY (id) REFERENCES public.accounts (id))", "plugin's own"),
    ("CREATE TABLE x (id INTEGER DEFAULT (pg_backend_pid()))", "pg_backend_pid"),
    ("CREATE TABLE x (id INTEGER CHECK (load_extension('x')))", "load_extension"),
    ("CREATE VIEW x AS SELECT 1", "CREATE VIEW"),
    ("CREATE TRIGGER x AFTER INSERT ON notes BEGIN SELECT 1; END", ""),
    ("CREATE VIRTUAL TABLE x USING fts5(y)", ""),
    ("CREATE FUNCTION x() RETURNS INTEGER LANGUAGE sql AS 'SELECT 1'", ""),
    ("CREATE EXTENSION dblink", ""),
    ("CREATE SCHEMA x", ""),
    ("CREATE ROLE x", ""),
    ("CREATE INDEX ON notes (id)", "INDEX"),
    ("CREATE INDEX x ON public.accounts (id)", "bare names"),
    ("ALTER TABLE public.accounts ADD COLUMN x TEXT", "bare names"),
    ("ALTER TABLE notes OWNER TO rookery", ""),
    ("ALTER TABLE notes RENAME TO public.accounts", ""),
    ("DROP TABLE main.accounts", "bare names"),
    ("DROP SCHEMA public", "SCHEMA"),
    ("DROP TABLE notes CASCADE", "DROP TABLE"),
    ("PRAGMA foreign_keys = OFF", "PRAGMA"),
    ("GRANT ALL ON notes TO PUBLIC", "GRANT"),
    ("INSERT INTO notes (title) SELECT email FROM main.users", "main.users"),
];

#[test]
fn migrations_change_the_name_space_alone() {
    for engine in BOTH {
        for (source, why) in REFUSED_CHANGES {
            match change(engine, source) {
                Ok(checked) => panic!("{engine:?} would run {checked:?}"),
                Err(refused) => assert!(is_why(&refused, why), "{engine:?} refuses {source} otherwise: {refused}"),
            }
        }
    }
}

#[test]
fn types_are_portable() {
    let source = "CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT NOT NULL, done BOOLEAN DEFAULT FALSE, raw BLOB, extra JSON,
                  parent INTEGER REFERENCES notes (id)); CREATE UNIQUE INDEX notes_title ON notes (title) WHERE done;";
    let texts = |engine| change(engine, source).unwrap().into_iter().map(|checked| checked.text).collect::<Vec<_>>();
    assert_eq!(
        texts(Engine::Sqlite),
        [
            "/* p_notes */ CREATE TABLE p_notes__notes (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, done INTEGER DEFAULT false, \
             raw BLOB, extra TEXT, parent INTEGER REFERENCES p_notes__notes (id)) STRICT",
            "/* p_notes */ CREATE UNIQUE INDEX p_notes__notes_title ON p_notes__notes(title) WHERE done",
        ]
    );
    assert_eq!(
        texts(Engine::Postgres),
        [
            "/* p_notes */ CREATE TABLE p_notes.\"notes\" (id BIGINT PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, \
             title TEXT COLLATE \"C\" NOT NULL, done BOOLEAN DEFAULT false, raw BYTEA, extra JSONB, \
             parent BIGINT REFERENCES p_notes.\"notes\" (id))",
            "/* p_notes */ CREATE UNIQUE INDEX \"notes_title\" ON p_notes.\"notes\"(title) WHERE done",
        ]
    );
}

#[test]
fn deepest_text_is_parsed_or_refused() {
    for source in
        [format!("SELECT {}1", "1 + ".repeat(1_990)), format!("SELECT {}1{}", "(".repeat(900), ")".repeat(900))]
    {
        for engine in BOTH {
            if let Err(refused) = check(engine, &source) {
                assert!(refused.len() < 300, "{refused}");
            }
        }
    }
    assert!(check(Engine::Sqlite, &format!("SELECT {}1", "1 + ".repeat(5_000))).unwrap_err().contains("split it"));
}

/// Tokens of SQL, so that their combinations often parse.
fn words() -> impl Strategy<Value = String> {
    const WORDS: &[&str] = &[
        "SELECT",
        "FROM",
        "WHERE",
        "notes",
        "core_v1.accounts",
        "accounts",
        "(",
        ")",
        ",",
        "=",
        "1",
        "'x'",
        ":id",
        "{in:ids}",
        "{each:items as e}",
        "{now}",
        "WITH",
        "AS",
        "INSERT INTO",
        "VALUES",
        "UPDATE",
        "SET",
        "DELETE",
        "JOIN",
        "ON",
        "count(*)",
        "*",
        ";",
        "--",
        "/*",
        "\"",
        "$1",
        "{",
        "}",
        ":",
        "::",
        "[",
        "]",
        "UNION",
        "ORDER BY",
        "LIMIT",
        "CREATE TABLE",
        "\u{1f600}",
    ];
    prop::collection::vec(prop::sample::select(WORDS), 0..25).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_text_is_checked_without_panic(text in ".{0,200}", sql in words()) {
        for source in [&text, &sql] {
            for engine in BOTH {
                if let Ok(checked) = check(engine, source) {
                    prop_assert!(checked.text.starts_with("/* p_notes */ "));
                    prop_assert!(!checked.text.contains("FROM accounts") && !checked.text.contains("JOIN accounts"));
                }
                let _ = change(engine, source);
            }
            let _ = super::super::source::read(source);
        }
    }
}

#[test]
fn owner_check_returns_a_row_to_owners_alone() {
    let scope = scope();
    let params =
        [("id", ParamType::Integer), ("caller", ParamType::Integer)].map(|(name, kind)| (name.to_owned(), kind));
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let check = |text: &str| {
            let read = text::read(text, &params, engine).unwrap();
            owner(Rules { scope: &scope, engine }, read.tokens)
        };
        for good in [
            "SELECT n.id FROM notes n WHERE n.id = :id AND n.account_id = :caller",
            "SELECT 1 AS yes WHERE EXISTS (SELECT 1 FROM notes n WHERE n.id = :id AND n.account_id = :caller)",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in [
            "SELECT COUNT(*) FROM notes n WHERE n.id = :id AND n.account_id = :caller",
            "SELECT max(n.id) FROM notes n WHERE n.id = :id AND n.account_id = :caller",
            "SELECT 1 + count(n.id) AS yes FROM notes n WHERE n.id = :id AND n.account_id = :caller",
            "SELECT o.c FROM (SELECT COUNT(*) AS c FROM notes n WHERE n.account_id = :caller) o WHERE o.c >= 0 AND :id = :id",
            "SELECT n.id FROM notes n WHERE n.id = :id AND n.account_id = :caller UNION ALL SELECT 1",
            "VALUES (1)",
            "SELECT n.id FROM notes n",
            "DELETE FROM notes WHERE id = :id",
        ] {
            assert!(check(bad).is_err(), "{engine:?}: {bad}");
        }
    }
}
