//! Guarantees of the engine: durable acknowledgements, atomic transactions, threads that are not blocked.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;

use super::connection::Wanted;
use super::log_sync::{Log, log_path};
use super::readers::Readers;
use super::writer::Writer;
use super::*;
use crate::sink::rows_of;
use crate::versions::Dependency;

const TIMEOUT: Duration = Duration::from_secs(10);
const LONG: &str =
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT MAX(i) FROM n";

/// An event, in order of occurrence.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A sync ended that started when the log had this many bytes.
    Synced(u64),
    /// This row was acknowledged.
    Acknowledged(i64),
}

type Events = Arc<Mutex<Vec<Event>>>;

/// A log that records the extent of its syncs, and delays them as a disk does.
struct WatchedLog {
    path: PathBuf,
    events: Events,
    syncs: Arc<AtomicUsize>,
}

impl Log for WatchedLog {
    fn sync(&self) -> io::Result<()> {
        let bytes = fs::metadata(&self.path)?.len();
        std::thread::sleep(Duration::from_millis(3));
        self.syncs.fetch_add(1, Ordering::Relaxed);
        self.events.lock().unwrap().push(Event::Synced(bytes));
        Ok(())
    }
}

struct Opened {
    folder: tempfile::TempDir,
    writer: Arc<Writer>,
    events: Events,
    syncs: Arc<AtomicUsize>,
}

impl Opened {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (events, syncs) = (Events::default(), Arc::new(AtomicUsize::new(0)));
        let (noting, counting) = (Arc::clone(&events), Arc::clone(&syncs));
        let open = |file: &Path| Ok(WatchedLog { path: log_path(file), events: noting, syncs: counting });
        let writer = Writer::open_with(&file(&folder), TIMEOUT, Arc::default(), open).unwrap();
        let mut tx = writer.begin().await.unwrap();
        tx.batch("CREATE TABLE birds (id INTEGER PRIMARY KEY, song TEXT)").unwrap();
        tx.commit().await.unwrap();
        Self { folder, writer: Arc::new(writer), events, syncs }
    }

    fn readers(&self) -> Arc<Readers> {
        Arc::new(Readers::new(&file(&self.folder), 2, TIMEOUT))
    }
}

fn file(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("birds.db")
}

async fn insert(writer: &Writer, id: i64) -> Result<()> {
    let mut tx = writer.begin().await?;
    tx.execute("INSERT INTO birds (id, song) VALUES (?1, 'kaah')", &[id.into()])?;
    tx.commit().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unused_pages_go_back_to_the_file_system() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", file(&folder).display());
    let sqlite = Sqlite::open(&Options { url, max_connections: 2, plugin_connections: 1, acquire_timeout: TIMEOUT })
        .await
        .unwrap();
    let run = async |text: &'static str| {
        let mut tx = sqlite.writer.begin().await.unwrap();
        tx.execute(text, &[]).unwrap();
        tx.commit().await.unwrap();
    };
    let pages = async || {
        let mut tx = sqlite.writer.begin().await.unwrap();
        tx.fetch_made::<(i64,)>("PRAGMA page_count", &[], Wanted::First).unwrap()[0].0
    };
    run("CREATE TABLE stones (id INTEGER PRIMARY KEY, weight BLOB)").await;
    run("INSERT INTO stones (weight) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT zeroblob(4000) FROM n").await;
    run("DELETE FROM stones").await;
    let before = pages().await;
    let mut steps = 1;
    while sqlite.release_pages().await.unwrap() {
        steps += 1;
    }
    let after = pages().await;
    assert!(before > 2_000 && after < 1_100, "{before} pages became {after}");
    assert!(steps > 2, "in transactions of a mebibyte each, not {steps}");
    sqlite.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn database_file_is_private() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data/birds.db");
    let url = format!("sqlite://{}", file.display());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for _ in 0..2 {
        let options = Options { url: url.clone(), max_connections: 2, plugin_connections: 1, acquire_timeout: TIMEOUT };
        let sqlite = Sqlite::open(&options).await.unwrap();
        let mut tx = sqlite.writer.begin().await.unwrap();
        tx.batch("CREATE TABLE IF NOT EXISTS birds (id INTEGER PRIMARY KEY)").unwrap();
        tx.commit().await.unwrap();
        for path in [file.clone(), log_path(&file)] {
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
        assert_eq!(mode(&folder.path().join("data")), 0o700);
        sqlite.close().await;
        // Simulates a file from an earlier version: it becomes private at the next start.
        fs::set_permissions(&file, Permissions::from_mode(0o604)).unwrap();
    }
}

fn ids(file: &Path) -> Vec<i64> {
    let connection = rusqlite::Connection::open(file).unwrap();
    let mut statement = connection.prepare("SELECT id FROM birds ORDER BY id").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(|id| id.unwrap()).collect()
}

/// The rows in a copy of the database of which only `bytes` of the log reached the disk; empty when even the table is
/// missing.
fn cut(opened: &Opened, bytes: u64) -> Vec<i64> {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (file(&opened.folder), file(&folder));
    fs::copy(&from, &to).unwrap();
    let log = fs::read(log_path(&from)).unwrap();
    fs::write(log_path(&to), &log[..usize::try_from(bytes).unwrap().min(log.len())]).unwrap();
    ids(&to)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_rows_survive_a_power_cut_at_every_point() {
    let opened = Opened::new().await;
    let before = fs::metadata(log_path(&file(&opened.folder))).unwrap().len();
    let tasks: Vec<_> = (1..=60)
        .map(|id| {
            let (writer, events) = (Arc::clone(&opened.writer), Arc::clone(&opened.events));
            tokio::spawn(async move {
                insert(&writer, id).await.unwrap();
                events.lock().unwrap().push(Event::Acknowledged(id));
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let (mut safe, mut acknowledged) = (before, Vec::new());
    for event in opened.events.lock().unwrap().iter() {
        match event {
            Event::Synced(bytes) => safe = safe.max(*bytes),
            Event::Acknowledged(id) => {
                acknowledged.push(*id);
                // The disk has all synced data, and any prefix of the data written after that.
                for bytes in [safe, safe + 24, safe + 4096 / 2] {
                    let left = cut(&opened, bytes);
                    let lost: Vec<_> = acknowledged.iter().filter(|id| !left.contains(id)).collect();
                    assert!(lost.is_empty(), "after {bytes} bytes of the log: {lost:?} of {acknowledged:?}");
                }
            }
        }
    }
    assert_eq!(acknowledged.len(), 60);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits_share_syncs() {
    let opened = Opened::new().await;
    let begun = opened.syncs.load(Ordering::Relaxed);
    let tasks: Vec<_> = (1..=64)
        .map(|id| {
            let writer = Arc::clone(&opened.writer);
            tokio::spawn(async move { insert(&writer, id).await.unwrap() })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let syncs = opened.syncs.load(Ordering::Relaxed) - begun;
    assert!(syncs <= 32, "{syncs} syncs for 64 commits");
}

struct FailingLog;

impl Log for FailingLog {
    fn sync(&self) -> io::Result<()> {
        Err(io::Error::other("the disk is gone"))
    }
}

#[tokio::test]
async fn failed_sync_stops_acknowledging_and_writing() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::open_with(&file(&folder), TIMEOUT, Arc::default(), |_| Ok(FailingLog)).unwrap();
    let mut tx = writer.begin().await.unwrap();
    tx.batch("CREATE TABLE birds (id INTEGER PRIMARY KEY, song TEXT)").unwrap();
    assert!(matches!(tx.commit().await, Err(Error::NotDurable)));
    assert!(matches!(writer.begin().await, Err(Error::NotDurable)));
}

#[tokio::test]
async fn dropped_transaction_leaves_nothing() {
    let opened = Opened::new().await;
    let mut tx = opened.writer.begin().await.unwrap();
    tx.execute("INSERT INTO birds (id) VALUES (1)", &[]).unwrap();
    drop(tx);
    insert(&opened.writer, 2).await.unwrap();
    assert_eq!(ids(&file(&opened.folder)), [2]);
}

#[tokio::test]
async fn statements_fail_after_their_transaction_was_rolled_back() {
    let opened = Opened::new().await;
    let mut tx = opened.writer.begin().await.unwrap();
    tx.execute("INSERT INTO birds (id) VALUES (1)", &[]).unwrap();
    assert!(tx.execute("INSERT OR ROLLBACK INTO birds (id) VALUES (1)", &[]).is_err());
    assert!(matches!(tx.execute("INSERT INTO birds (id) VALUES (2)", &[]), Err(Error::RolledBack)));
    assert!(matches!(tx.commit().await, Err(Error::RolledBack)));
    assert!(ids(&file(&opened.folder)).is_empty());
}

#[tokio::test]
async fn transaction_beyond_its_time_is_rolled_back() {
    let opened = Opened::new().await;
    let mut tx = opened.writer.begin().await.unwrap();
    tx.execute("INSERT INTO birds (id) VALUES (1)", &[]).unwrap();
    tx.bound(Duration::from_millis(5), None);
    let insert = format!("INSERT INTO birds (id) {LONG}");
    assert!(tx.execute(&insert, &[]).is_err_and(|error| error.is_cut_off()));
    assert!(tx.commit().await.is_err());
    insert_after(&opened).await;
}

#[tokio::test]
async fn contended_transaction_is_interrupted() {
    let opened = Opened::new().await;
    let insert = format!("INSERT INTO birds (id) {LONG}");
    let mut tx = opened.writer.begin().await.unwrap();
    tx.bound(Duration::from_secs(60), Some(Duration::from_millis(1)));
    tokio::time::sleep(Duration::from_millis(5)).await;
    tx.execute(&insert, &[]).expect("nobody waits");
    drop(tx);
    let mut tx = opened.writer.begin().await.unwrap();
    tx.bound(Duration::from_secs(60), Some(Duration::from_millis(1)));
    let mut waiting = Box::pin(opened.writer.begin());
    assert!(waiting.as_mut().now_or_never().is_none(), "it is not their turn");
    assert!(tx.execute(&insert, &[]).is_err_and(|error| error.is_cut_off()));
    drop(tx);
    let mut next = waiting.await.unwrap();
    next.execute(&insert, &[]).expect("the next has no limit of the one before");
}

/// The next transaction does not inherit the limit.
async fn insert_after(opened: &Opened) {
    let mut tx = opened.writer.begin().await.unwrap();
    tx.execute(&format!("INSERT INTO birds (id) {LONG}"), &[]).unwrap();
    tx.commit().await.unwrap();
    assert_eq!(ids(&file(&opened.folder)), [3_000_000]);
}

#[tokio::test]
async fn closing_and_a_checkpoint_do_not_wait_for_each_other() {
    let opened = Opened::new().await;
    let mut tx = opened.writer.begin().await.unwrap();
    tx.execute("INSERT INTO birds (id, song) VALUES (1, hex(zeroblob(20000000)))", &[]).unwrap();
    tx.commit().await.unwrap();
    tokio::time::timeout(Duration::from_secs(60), opened.writer.close()).await.expect("both threads end");
    assert_eq!(ids(&file(&opened.folder)), [1]);
}

#[tokio::test]
async fn another_process_is_waited_for_without_blocking_the_thread() {
    let opened = Opened::new().await;
    let other = rusqlite::Connection::open(file(&opened.folder)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let writer = Arc::clone(&opened.writer);
    let waiting = tokio::spawn(async move { insert(&writer, 1).await });
    // The test has one thread: the task above must yield.
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!waiting.is_finished());
    other.execute_batch("COMMIT").unwrap();
    waiting.await.unwrap().unwrap();
}

#[tokio::test]
async fn other_processes_make_kept_rows_stale() {
    let opened = Opened::new().await;
    let versions = opened.writer.versions();
    opened.writer.notice_others().await.unwrap();
    let noted = versions.now();
    insert(&opened.writer, 1).await.unwrap();
    opened.writer.notice_others().await.unwrap();
    assert!(versions.is_current(noted, &[Dependency::Token(1.into())]), "its own writes are known");
    rusqlite::Connection::open(file(&opened.folder)).unwrap().execute_batch("DELETE FROM birds").unwrap();
    opened.writer.notice_others().await.unwrap();
    assert!(!versions.is_current(noted, &[Dependency::Token(1.into())]));
}

#[tokio::test]
async fn long_reads_leave_the_thread() {
    let opened = Opened::new().await;
    let readers = opened.readers();
    assert!(
        readers.try_fetch(LONG, &[], Wanted::All, &mut Vec::<(i64,)>::new()).is_none(),
        "no connection is open yet"
    );
    let short =
        Arc::clone(&readers).fetch("SELECT 1", Vec::new(), Wanted::All, Box::<Vec<(i64,)>>::default()).await.unwrap();
    assert_eq!(rows_of::<(i64,)>(short), [(1,)]);
    assert!(readers.try_fetch("SELECT 1", &[], Wanted::All, &mut Vec::<(i64,)>::new()).is_some());
    assert!(
        readers.try_fetch(LONG, &[], Wanted::All, &mut Vec::<(i64,)>::new()).is_none(),
        "interrupted after its slice"
    );
    let long = Arc::clone(&readers).fetch(LONG, Vec::new(), Wanted::All, Box::<Vec<(i64,)>>::default()).await.unwrap();
    assert_eq!(rows_of::<(i64,)>(long), [(3_000_000,)]);
    assert!(readers.try_fetch("SELECT 1", &[], Wanted::All, &mut Vec::<(i64,)>::new()).is_some());
}

#[test]
fn urls_name_files() {
    for (url, file) in [
        ("sqlite:///var/lib/rookery.db", "/var/lib/rookery.db"),
        ("sqlite://data/rookery.db", "data/rookery.db"),
        ("sqlite:rookery.db?mode=rwc", "rookery.db"),
        ("sqlite:///a%20nest/rookery.db", "/a nest/rookery.db"),
    ] {
        assert_eq!(file_of(url).unwrap(), Path::new(file));
    }
    assert!(file_of("sqlite://").is_err() && file_of("sqlite::memory:").is_err());
}
