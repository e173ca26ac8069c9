//! Every function that plugins may call, on its largest arguments: it ends within twice its time on both engines, while
//! the server goes on writing, and takes little memory.
//!
//! On SQLite, and on PostgreSQL too where `TEST_DATABASE_URL` names a server.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use database::confined::functions::{self, MAX_PATTERN_BYTES, MAX_VALUE_BYTES};
use database::confined::{ConfinedError, Limits, Param, ParamType, Scope};
use database::db::Db;
use database::{Engine, Options, migrate};
use sqlparser::tokenizer::Token;

use plugin_package::sql::check::{self, Rules};
use plugin_package::sql::text::{self, Slot};

/// The time of one statement.
const TIME: Duration = Duration::from_millis(500);
/// After so long nothing ends what runs: how soon it does depends on the machine.
const HANGS: Duration = Duration::from_secs(60);
const LIMITS: Limits = Limits { time: TIME, rows: 10, bytes: 4 << 20 };

/// What functions are given: `body` is a text of one letter, `part` is found at its end alone, `long` is as long as it is.
const PARAMS: [(&str, ParamType); 5] = [
    ("part", ParamType::Text),
    ("long", ParamType::Text),
    ("set", ParamType::Text),
    ("doc", ParamType::Json),
    ("list", ParamType::Integers),
];

/// Calls that every row of a join makes: the functions in them, and the expression.
const SCALARS: &[(&[&str], &str)] = &[
    (&["->"], ":doc -> 'key'"),
    (&["->>"], ":doc ->> 'key'"),
    (&["abs", "sign", "floor", "ceil"], "abs(t.id) + sign(u.id) + floor(t.id) + ceil(u.id)"),
    (
        &["abs", "round", "mod", "sqrt", "power", "trunc"],
        "round(t.id) + mod(u.id, 7) + sqrt(v.id) + power(t.id, u.id) + trunc(t.id)",
    ),
    (&["char_length"], "char_length(t.body)"),
    (&["coalesce", "nullif"], "coalesce(nullif(t.body, u.body), t.body || 'x')"),
    (&["ifnull", "iif"], "iif(t.body = u.body || 'x', 1, ifnull(t.body, 2))"),
    (&["concat"], "concat(t.body, u.body, t.body, v.body)"),
    (&["exists"], "EXISTS (SELECT 1 FROM t w WHERE w.body = t.body || 'x')"),
    (&["glob"], "glob('*' || :part || '*', t.body)"),
    (&["greatest", "least"], "length(greatest(t.body, u.body)) + length(least(t.body, u.body))"),
    (&["hex"], "hex(t.body)"),
    (&["instr"], "instr(t.body, :part)"),
    (&["instr"], "instr(t.body, substr(u.body, 100000) || 'x')"),
    (&["json"], "json(:doc)"),
    (&["json_array"], "json_array(t.body, u.body, v.body, :doc, t.body, u.body, v.body, :doc)"),
    (&["json_array_length"], "json_array_length(:doc)"),
    (
        &["json_extract", "json_type", "json_valid"],
        "json_extract(:doc, '$[1]', '$[2]', '$[30000]') || json_type(:doc) || json_valid(t.body)",
    ),
    (&["json_object", "json_set"], "json_set(json_object('a', t.body), '$.b', u.body, '$.c', v.body)"),
    (&["jsonb_array_length", "jsonb_typeof"], "jsonb_array_length(:doc) + length(jsonb_typeof(:doc))"),
    (&["jsonb_build_array"], "jsonb_build_array(t.body, u.body, v.body, :doc)"),
    (&["jsonb_build_object"], "jsonb_build_object('a', t.body, 'b', :doc)"),
    (&["jsonb_set"], "jsonb_set(:doc, '{1}', :doc)"),
    (&["length", "lower", "upper"], "length(lower(t.body)) + length(upper(u.body))"),
    (&["like"], "t.body LIKE '%' || :part || '%' ESCAPE '!'"),
    (&["like"], "t.body LIKE u.body || '%'"),
    (&["like"], "like('%' || :part, t.body)"),
    (&["ltrim"], "ltrim(t.body, :set)"),
    (&["ltrim"], "ltrim(t.body, replace(substr(u.body, 1, 20000), 'a', 'b') || 'a')"),
    (&["max", "min"], "length(max(t.body, u.body)) + length(min(t.body, u.body))"),
    (&["position"], "POSITION(:part IN t.body)"),
    (&["replace"], "replace(t.body, :part, :set)"),
    (&["replace"], "replace(t.body, 'a', :set)"),
    (&["replace"], "replace(t.body, substr(u.body, 100000) || 'x', '')"),
    (&["rtrim"], "rtrim(t.body, :set)"),
    (&["starts_with"], "starts_with(t.body, u.body || 'x')"),
    (&["strpos"], "strpos(t.body, :part)"),
    (&["strpos"], "strpos(t.body, substr(u.body, 100000) || 'x')"),
    (&["substr", "substring"], "substr(t.body, 2) || substring(u.body, 3, 100)"),
    (&["to_json"], "to_json(t.body)"),
    (&["to_jsonb"], "to_jsonb(t.body)"),
    (&["trim"], "TRIM(LEADING :set FROM t.body)"),
    (&["trim"], "trim(t.body)"),
];

/// The same for calls that make one value of all rows.
const AGGREGATES: &[(&[&str], &str)] = &[
    (&["avg", "sum"], "avg(t.id) + sum(u.id)"),
    (&["total"], "total(t.id)"),
    (&["bool_and", "bool_or"], "bool_and(t.body = u.body) OR bool_or(t.body = v.body)"),
    (&["count"], "count(DISTINCT t.body)"),
    (&["group_concat"], "group_concat(t.body, u.body)"),
    (&["json_group_array"], "json_group_array(t.body)"),
    (&["json_group_array"], "json_group_array(t.id * 1000000 + u.id)"),
    (&["json_group_object"], "json_group_object(t.id, u.body)"),
    (&["jsonb_agg"], "jsonb_agg(t.body)"),
    (&["jsonb_object_agg"], "jsonb_object_agg(t.id, u.body)"),
    (&["max", "min"], "length(max(t.body)) + length(min(u.body))"),
    (&["string_agg"], "string_agg(t.body, u.body)"),
];

/// Whole statements: tables from values, windows, sorts, nested values.
const WHOLE: &[(&[&str], &str)] = &[
    (&["json_each"], "SELECT count(e.value) AS n FROM t JOIN t u ON u.id > 0, json_each(:doc) AS e WHERE e.value > t.id"),
    (&["unnest"], "SELECT count(e.value) AS n FROM t JOIN t u ON u.id > 0, {each:list as e} WHERE e.value > t.id"),
    (&["jsonb_array_elements"], "SELECT count(*) AS n FROM t JOIN t u ON u.id > 0, jsonb_array_elements(:doc) AS e"),
    (&["jsonb_array_elements_text"], "SELECT count(*) AS n FROM t JOIN t u ON u.id > 0, jsonb_array_elements_text(:doc) AS e"),
    (
        &["cume_dist", "dense_rank", "percent_rank", "rank", "row_number", "ntile"],
        "SELECT count(*) AS n FROM (SELECT cume_dist() OVER w AS a, dense_rank() OVER w AS b, percent_rank() OVER w AS c,
         rank() OVER w AS d, row_number() OVER w AS e, ntile(5) OVER w AS f FROM t JOIN t u ON u.id > 0 WINDOW w AS (ORDER BY t.body)) s
         WHERE s.a + s.b + s.c + s.d + s.e + s.f > 0",
    ),
    (
        &["first_value", "lag", "last_value", "lead", "nth_value"],
        "SELECT count(*) AS n FROM (SELECT first_value(t.body) OVER w AS a, lag(t.body) OVER w AS b, last_value(u.body) OVER w AS c,
         lead(u.body) OVER w AS d, nth_value(t.body, 3) OVER w AS e FROM t JOIN t u ON u.id > 0 WINDOW w AS (ORDER BY t.id, u.id)) s
         WHERE length(s.a) + length(s.c) > 0",
    ),
    (&[], "SELECT t.body AS n FROM t JOIN t u ON u.id > 0 JOIN t v ON v.id > 0 ORDER BY t.body || u.id, v.id LIMIT 5000"),
    (&[], "SELECT count(*) AS n FROM (SELECT DISTINCT t.body || u.id || v.id AS b FROM t JOIN t u ON u.id > 0 JOIN t v ON v.id > 0) s"),
    (&[], "SELECT length(s.b || s.b || s.b || s.b) AS n FROM (SELECT t.body || t.body AS b FROM t) s"),
    (&[], "SELECT sum(s.b * s.b * s.b * s.b) AS n FROM (SELECT t.id * t.id * u.id * u.id AS b FROM t JOIN t u ON u.id > 0) s"),
];

const SPACED: &str = "FROM t JOIN t u ON u.id > 0 JOIN t v ON v.id > 0";

fn statements() -> Vec<(&'static [&'static str], String)> {
    let scalar =
        |(names, call): &(&'static [&'static str], &str)| (*names, format!("SELECT count({call}) AS n {SPACED}"));
    let aggregate = |(names, call): &(&'static [&'static str], &str)| {
        (*names, format!("SELECT length(CAST({call} AS text)) AS n {SPACED}"))
    };
    let whole = |(names, text): &(&'static [&'static str], &str)| (*names, (*text).to_owned());
    SCALARS.iter().map(scalar).chain(AGGREGATES.iter().map(aggregate)).chain(WHOLE.iter().map(whole)).collect()
}

fn value(name: &str) -> Param {
    match name {
        "part" => Param::Text("a".repeat(MAX_PATTERN_BYTES - 10) + "b"),
        "long" => Param::Text("a".repeat(MAX_VALUE_BYTES - 100)),
        "set" => Param::Text(
            (0..MAX_PATTERN_BYTES - 30).map(|n| char::from(b'a' + u8::try_from(n % 26).unwrap())).rev().collect(),
        ),
        "doc" => Param::Json(serde_json::value::RawValue::from_string(format!("[{}1]", "1,".repeat(100_000))).unwrap()),
        _ => Param::Integers((0..30_000).collect()),
    }
}

struct Opened {
    db: Db,
    scope: Arc<Scope>,
    _folder: tempfile::TempDir,
}

impl Opened {
    async fn at(url: &str, folder: tempfile::TempDir) -> Self {
        let options = Options {
            url: url.to_owned(),
            max_connections: 4,
            acquire_timeout: Duration::from_secs(30),
            plugin_connections: 2,
        };
        let db = Db::open(&options).await.unwrap();
        migrate::run(&db).await.unwrap();
        let mut tx = db.begin().await.unwrap();
        let scope = Scope::find(&mut tx, "costs", BTreeSet::new()).await.unwrap();
        tx.ensure_namespace(&scope).await.unwrap();
        let opened = Self { db, scope: Arc::new(scope), _folder: folder };
        let migrating = Arc::new(Scope { migrating: true, ..(*opened.scope).clone() });
        for statement in check::migration(
            opened.rules(),
            opened.tokens("CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT NOT NULL)").0,
        )
        .unwrap()
        {
            tx.confined(&migrating, &statement.text.into(), Vec::new(), &LIMITS).await.unwrap();
        }
        let (tokens, args) =
            opened.tokens("INSERT INTO t (id, body) SELECT e.value, :long FROM {each:list as e} WHERE e.value < 30");
        let insert: Arc<str> = check::statement(opened.rules(), tokens, None, 1).unwrap().text.into();
        tx.confined(&opened.scope, &insert, args, &LIMITS).await.unwrap();
        tx.commit().await.unwrap();
        opened
    }

    fn rules(&self) -> Rules<'_> {
        Rules { scope: &self.scope, engine: self.db.engine() }
    }

    fn tokens(&self, source: &str) -> (Vec<Token>, Vec<Param>) {
        let params = PARAMS.map(|(name, kind)| (name.to_owned(), kind));
        let read = text::read(source, &params, self.db.engine()).unwrap();
        let args = read.slots.iter().map(|slot| match slot {
            Slot::Param(index) => value(PARAMS[*index].0),
            other => panic!("{other:?}"),
        });
        (read.tokens, args.collect())
    }

    /// Runs a statement as a plugin's read would, and in a transaction as a plugin's change would.
    async fn run(&self, source: &str, writes: bool) -> Result<(), ConfinedError> {
        self.run_within(source, writes, &LIMITS).await
    }

    async fn run_within(&self, source: &str, writes: bool, limits: &Limits) -> Result<(), ConfinedError> {
        let (tokens, args) = self.tokens(source);
        let checked = check::statement(self.rules(), tokens, None, 10).map_err(ConfinedError::Statement)?;
        let text: Arc<str> = checked.text.into();
        if !writes {
            return self.db.confined(&self.scope, &text, args, limits).await.map(drop);
        }
        let mut tx = self.db.begin().await.unwrap();
        tx.confined(&self.scope, &text, args, limits).await.map(drop)
    }
}

/// Both engines, or the one there is.
async fn engines() -> Vec<Opened> {
    let folder = tempfile::tempdir().unwrap();
    let mut opened = vec![Opened::at(&format!("sqlite://{}/test.db", folder.path().display()), folder).await];
    #[expect(clippy::disallowed_methods, reason = "a test's environment says which database to use")]
    if let Ok(server) = std::env::var("TEST_DATABASE_URL") {
        let options =
            Options { url: server.clone(), max_connections: 2, acquire_timeout: TIME * 60, plugin_connections: 1 };
        let admin = Db::open(&options).await.unwrap();
        let name = format!("rookery_costs_{}", crypto::random_text(12).to_lowercase().replace(['-', '_'], "x"));
        admin.execute_raw(&format!("CREATE DATABASE {name}")).await.unwrap();
        admin.close().await;
        let mut url = url::Url::parse(&server).unwrap();
        url.set_path(&name);
        opened.push(Opened::at(url.as_str(), tempfile::tempdir().unwrap()).await);
    }
    opened
}

/// True when this process runs only the named test, so that its memory use can be measured. Otherwise the test was run in a
/// child process, and passed.
fn alone(test: &str) -> bool {
    const RUNS: &str = "ROOKERY_TEST_ALONE";
    #[expect(clippy::disallowed_methods, reason = "a test's environment says what it is")]
    if std::env::var(RUNS).is_ok_and(|name| name == test) {
        return true;
    }
    let name = format!("{}::{test}", module_path!().split_once("::").unwrap().1);
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    let done = command.args(["--exact", &name]).env(RUNS, test).output().unwrap();
    let printed = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && printed.contains("1 passed"), "{printed}");
    false
}

/// Anonymous memory of this process, KiB.
fn memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap_or_default().to_owned();
    line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Concurrent writes of the server: the longest wait in ms, and the peak memory in KiB.
#[derive(Default)]
struct Watch {
    over: AtomicBool,
    longest_ms: AtomicU64,
    memory_kib: AtomicU64,
}

async fn write(db: Db, watch: Arc<Watch>) {
    while !watch.over.load(Ordering::Relaxed) {
        let begun = Instant::now();
        let mut tx = db.begin().await.unwrap();
        store::settings::bump_generation(&mut tx, model::Time::from_micros(0)).await.unwrap();
        tx.commit().await.unwrap();
        watch.longest_ms.fetch_max(u64::try_from(begun.elapsed().as_millis()).unwrap(), Ordering::Relaxed);
        watch.memory_kib.fetch_max(memory_kib(), Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[test]
fn every_function_is_tried() {
    let tried: BTreeSet<&str> = statements().iter().flat_map(|(names, _)| names.iter().copied()).collect();
    let missing: Vec<_> = functions::all().iter().filter(|name| !tried.contains(**name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_function_ends_in_time_on_its_largest_arguments() {
    if !alone("every_function_ends_in_time_on_its_largest_arguments") {
        return;
    }
    for opened in engines().await {
        let engine = opened.db.engine();
        let watch = Arc::new(Watch::default());
        let before = memory_kib();
        let writing = tokio::spawn(write(opened.db.clone(), Arc::clone(&watch)));
        let mut ran = 0;
        for (_, source) in statements() {
            for writes in [false, true] {
                let begun = Instant::now();
                let done = opened.run(&source, writes).await;
                let took = begun.elapsed();
                assert!(took < HANGS, "{engine:?}: {source} took {took:?}: {done:?}");
                ran += u32::from(matches!(done, Ok(()) | Err(ConfinedError::Time(_) | ConfinedError::Bytes(_))));
            }
        }
        watch.over.store(true, Ordering::Relaxed);
        writing.await.unwrap();
        // The others are functions of the other engine, or search for a pattern that is too long.
        assert!(ran >= 60, "{engine:?}: only {ran} statements ran");
        let longest = watch.longest_ms.load(Ordering::Relaxed);
        assert!(u128::from(longest) < HANGS.as_millis(), "{engine:?}: the server waited {longest} ms to write");
        let grown = watch.memory_kib.load(Ordering::Relaxed).saturating_sub(before);
        assert!(grown < 64 << 10, "{engine:?}: memory grew by {} MiB", grown >> 10);
        opened.db.close().await;
    }
}

/// As many functions of the largest parameter as a statement may have, on every connection that reads, and in a transaction.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statements_of_one_plugin_take_bounded_memory() {
    if !alone("statements_of_one_plugin_take_bounded_memory") {
        return;
    }
    // The parameter counts as well.
    let calls = |count: usize| {
        let calls: Vec<String> = (0..count).map(|number| format!("length(upper(:long) || '{number}')")).collect();
        format!("SELECT {} AS n FROM t", calls.join(" + "))
    };
    for opened in engines().await {
        let most = calls(functions::MAX_VALUES / 3);
        let (tokens, _) = opened.tokens(&most);
        let texts = check::statement(opened.rules(), tokens, None, 10).unwrap().texts;
        assert_eq!(texts, functions::MAX_VALUES / 3 * 2);
        let watch = Arc::new(Watch::default());
        let before = memory_kib();
        let writing = tokio::spawn(write(opened.db.clone(), Arc::clone(&watch)));
        let all = [false, false, true].map(|writes| opened.run(&most, writes));
        let done = futures_util::future::join_all(all).await;
        watch.over.store(true, Ordering::Relaxed);
        writing.await.unwrap();
        assert!(done.iter().all(|done| matches!(done, Ok(()) | Err(ConfinedError::Time(_)))), "{done:?}");
        let grown = watch.memory_kib.load(Ordering::Relaxed).saturating_sub(before);
        assert!(grown < 64 << 10, "{:?}: memory grew by {} MiB", opened.db.engine(), grown >> 10);
        opened.db.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plugin_that_reads_too_much_does_not_delay_others() {
    // Of thirty rows, eight times: it ends when it is ended.
    let slow = ["u", "v", "w", "x", "y", "z", "a"].map(|name| format!(" JOIN t {name} ON {name}.id > 0")).concat();
    let slow = format!("SELECT count(*) AS n FROM t{slow}");
    for opened in engines().await {
        let opened = Arc::new(opened);
        let greedy: Vec<_> = (0..6)
            .map(|_| {
                let (opened, slow) = (Arc::clone(&opened), slow.clone());
                let limits = Limits { time: HANGS, ..LIMITS };
                tokio::spawn(async move { opened.run_within(&slow, false, &limits).await })
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(100)).await;
        let mut tx = opened.db.begin().await.unwrap();
        let other = Scope::find(&mut tx, "other", BTreeSet::new()).await.unwrap();
        tx.ensure_namespace(&other).await.unwrap();
        tx.commit().await.unwrap();
        let limits = Limits { time: HANGS / 2, ..LIMITS };
        opened.db.confined(&Arc::new(other), &"SELECT 1 AS n".into(), Vec::new(), &limits).await.unwrap();
        assert!(greedy.iter().all(|read| !read.is_finished()), "{:?}: it waited for them", opened.db.engine());
        if opened.db.engine() == Engine::Sqlite {
            opened.db.end_reads("costs").await;
            // The running statements; the waiting ones run next.
            let ended = || greedy.iter().filter(|read| read.is_finished()).count() >= 2;
            let begun = Instant::now();
            while !ended() {
                assert!(begun.elapsed() < HANGS / 2, "they end before their time");
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        greedy.iter().for_each(tokio::task::JoinHandle::abort);
    }
}
