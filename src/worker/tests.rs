//! Jobs that panic, take long or lose their worker, on either engine. The jobs belong to a stand-in for an extension.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use ::database::Engine;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use config::Config;
use context::default_answers;
use context::extension::{Extensions, RunJobs};
use context::federation::NoFederation;
use model::clock::Clock;
use store::job::NewJob;

use super::*;
use database::Database;

#[path = "../../tests/api/harness/database.rs"]
#[expect(unreachable_pub, reason = "the harness of tests/api uses it too")]
mod database;

/// Seconds of a lease: the shortest that may be configured.
const LEASE: i64 = 5;

thread_local! {
    /// Whether the next query of this test for kinds of jobs panics.
    static PANICS: Cell<bool> = const { Cell::new(false) };
}

/// Runs jobs of the kinds `panic` and `long`.
#[derive(Debug)]
struct Script;

impl Extensions for Script {
    fn pinned(&self) -> Arc<dyn Extensions> {
        Arc::new(Self)
    }
}

default_answers! {
    Script: FilterDrafts, JudgeSignUps, Decorate, JudgeNotifications, FindMarked, ExceptFromCleanup, DescribeServer,
    ServeChannels, ServeClient, ReceiveChanges, DeclareScopes
}

#[async_trait]
impl RunJobs for Script {
    fn owns_job(&self, kind: &str) -> bool {
        ["panic", "long"].contains(&kind)
    }

    async fn job_kinds(&self, _: &Cx) -> Result<Vec<String>> {
        assert!(!PANICS.take(), "boom");
        Ok(vec!["panic".to_owned(), "long".to_owned()])
    }

    async fn run_job(&self, cx: &Cx, row: JobRow) -> Result<Done, Failure> {
        assert_ne!(row.kind, "panic", "boom");
        // Runs twice as long as a lease, which is renewed meanwhile.
        for _ in 0..4 {
            let before = lease_until(cx).await;
            cx.clock.advance(TimeDelta::seconds(LEASE) / 2);
            for _ in 0..1_200 {
                if lease_until(cx).await > before {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            reclaim_expired(cx, TimeDelta::zero()).await?;
        }
        Ok(Done::Remove)
    }
}

async fn lease_until(cx: &Cx) -> i64 {
    let micros = match cx.db.engine() {
        Engine::Sqlite => "lease_until",
        Engine::Postgres => "CAST(EXTRACT(EPOCH FROM lease_until) * 1000000 AS BIGINT)",
    };
    cx.db.fetch_raw::<(i64,)>(&format!("SELECT {micros} FROM jobs WHERE state = 'running'")).await.unwrap()[0].0
}

/// A context on a new database. The folder and the database are deleted when the returned guards are dropped.
async fn open() -> (Cx, tempfile::TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::create(folder.path()).await;
    let keys = [
        ("ROOKERY_SERVER_LOCAL_DOMAIN", "example.test"),
        ("ROOKERY_STORAGE_DATA_DIR", folder.path().to_str().unwrap()),
        ("ROOKERY_DATABASE_URL", database.url.as_str()),
        ("ROOKERY_JOBS_MAX_ATTEMPTS", "3"),
        ("ROOKERY_JOBS_LEASE_SECONDS", "5"),
    ];
    let config = Config::load(None, keys.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned()))).unwrap();
    let clock = Clock::fixed("2026-01-15T12:00:00Z".parse::<DateTime<Utc>>().unwrap());
    let cx =
        Cx::open(config, clock, Path::new("/nonexistent"), Arc::new(Script), Arc::new(NoFederation)).await.unwrap();
    (cx, folder, database)
}

async fn queue_job(cx: &Cx, lane: Lane, kind: &'static str, payload: serde_json::Value) {
    let now = cx.clock.now();
    let job = NewJob { id: cx.ids.next(), lane, kind, key: None, payload, share: None, run_at: now, now };
    let mut tx = cx.db.begin().await.unwrap();
    store::job::insert(&mut tx, job).await.unwrap();
    tx.commit().await.unwrap();
}

/// State, attempts and last error of the only job.
async fn only_job(cx: &Cx) -> (String, i64, String) {
    let text = "SELECT state, attempts, coalesce(last_error, '') FROM jobs";
    let mut jobs = cx.db.fetch_raw(text).await.unwrap();
    assert_eq!(jobs.len(), 1);
    jobs.remove(0)
}

#[tokio::test]
async fn panicking_job_backs_off_and_becomes_a_dead_letter() {
    let (cx, _folder, _database) = open().await;
    queue_job(&cx, Lane::Plugin, "panic", serde_json::json!({})).await;
    for attempt in 1..=3 {
        assert_eq!(drain(&cx).await.unwrap(), 1);
        let (state, attempts, error) = only_job(&cx).await;
        assert_eq!((state.as_str(), attempts), (if attempt < 3 { "ready" } else { "dead" }, attempt));
        assert!(error.contains("panicked: ") && error.contains("boom"), "{error}");
        assert_eq!(drain(&cx).await.unwrap(), 0, "it waits for its back-off");
        cx.clock.advance(TimeDelta::hours(1));
    }
}

#[tokio::test]
async fn feed_job_that_panics_counts_its_attempts() {
    let (cx, _folder, _database) = open().await;
    let ended = caught("merge_feed", async { panic!("boom {}", 1) }).await;
    assert!(matches!(ended, Err::<(), _>(Failure::Retry(why)) if why == "panicked: boom 1"));
    // A payload that cannot be parsed fails for good, in the same place.
    queue_job(&cx, Lane::Feed, "merge_feed", serde_json::json!({})).await;
    drain(&cx).await.unwrap();
    assert_eq!(only_job(&cx).await.0, "dead");
}

#[tokio::test]
async fn lane_that_panics_restarts() {
    let (cx, _folder, _database) = open().await;
    queue_job(&cx, Lane::Plugin, "panic", serde_json::json!({})).await;
    PANICS.set(true);
    let (stop, stopped) = watch::channel(false);
    let worker = tokio::spawn(run(cx.clone(), stopped));
    while only_job(&cx).await.1 == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(!PANICS.get(), "it panicked, and its job was tried nevertheless");
    stop.send(true).unwrap();
    worker.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn running_job_keeps_its_lease() {
    let (cx, _folder, _database) = open().await;
    queue_job(&cx, Lane::Plugin, "long", serde_json::json!({})).await;
    assert_eq!(drain(&cx).await.unwrap(), 1, "no other worker started it");
    let left: Vec<(i64,)> = cx.db.fetch_raw("SELECT id FROM jobs").await.unwrap();
    assert!(left.is_empty(), "its worker settled it");
}

#[tokio::test]
async fn job_of_dead_worker_backs_off_and_becomes_a_dead_letter() {
    let (cx, _folder, _database) = open().await;
    queue_job(&cx, Lane::Mail, "send_mail", serde_json::json!({})).await;
    for attempt in 1..=3 {
        assert_eq!(claim(&cx, Lane::Mail, 8, false, &[]).await.unwrap().len(), 1);
        reclaim_expired(&cx, TimeDelta::zero()).await.unwrap();
        assert_eq!(only_job(&cx).await.0, "running", "its lease holds");
        cx.clock.advance(TimeDelta::seconds(LEASE));
        reclaim_expired(&cx, TimeDelta::zero()).await.unwrap();
        let (state, attempts, _) = only_job(&cx).await;
        assert_eq!((state.as_str(), attempts), (if attempt < 3 { "ready" } else { "dead" }, attempt));
        assert!(claim(&cx, Lane::Mail, 8, false, &[]).await.unwrap().is_empty(), "it waits for its back-off");
        cx.clock.advance(TimeDelta::hours(1));
    }
}

#[tokio::test]
async fn fan_out_renews_its_leases_and_ends_when_one_is_lost() {
    let (cx, _folder, _database) = open().await;
    for number in 0..2 {
        queue_job(&cx, Lane::Feed, "fan_out", serde_json::json!({ "status": number.to_string() })).await;
    }
    let hold = async |claims: &mut Vec<Claim>| {
        let mut tx = cx.db.begin().await.unwrap();
        let due = store::job::lock_due(&mut tx, Lane::Feed, cx.clock.now(), 8).await.unwrap();
        let jobs: Vec<_> = due.iter().map(|job| job.claim.id).chain(claims.iter().map(|claim| claim.id)).collect();
        let held = feed::hold(&cx, &mut tx, &jobs, claims).await;
        tx.commit().await.unwrap();
        held
    };
    let mut claims = Vec::new();
    for _ in 0..4 {
        hold(&mut claims).await.unwrap();
        cx.clock.advance(TimeDelta::seconds(LEASE) / 2);
        reclaim_expired(&cx, TimeDelta::zero()).await.unwrap();
    }
    assert_eq!(claims.len(), 2);
    cx.clock.advance(TimeDelta::seconds(LEASE));
    reclaim_expired(&cx, TimeDelta::zero()).await.unwrap();
    assert!(matches!(hold(&mut claims).await, Err(Failure::NotNow(_))), "another worker may have claimed them");
}

/// Another process on the database of `cx`, with a clock `behind` the clock of `cx`.
async fn beside(cx: &Cx, behind: TimeDelta) -> Cx {
    let now = DateTime::from_timestamp_micros(cx.clock.now().timestamp_micros()).unwrap();
    let clock = Clock::fixed(now - behind);
    Cx::open(cx.config.clone(), clock, Path::new("/nonexistent"), Arc::new(Script), Arc::new(NoFederation))
        .await
        .unwrap()
}

fn low_bits(id: i64) -> i64 {
    id & 0xffff
}

#[tokio::test]
async fn no_two_processes_make_the_same_id() {
    let (cx, _folder, _database) = open().await;
    let mut ids = std::collections::HashSet::new();
    for _ in 0..6 {
        let other = beside(&cx, TimeDelta::zero()).await;
        ids.extend((0..200).map(|_| low_bits(other.ids.next())));
    }
    ids.extend((0..200).map(|_| low_bits(cx.ids.next())));
    assert_eq!(ids.len(), 7 * 200, "not even within one millisecond");
}

#[tokio::test]
async fn clock_that_is_set_back_never_gives_an_older_id() {
    let (cx, _folder, _database) = open().await;
    queue_job(&cx, Lane::Mail, "send_mail", serde_json::json!({})).await;
    let stored: i64 = cx.ids.next::<i64>() - 1;
    let other = beside(&cx, TimeDelta::days(30)).await;
    assert!(other.ids.next::<i64>() > stored, "continues after the stored ids");
    // Also when the row with the highest id was deleted.
    let last: i64 = other.ids.next();
    other.close().await;
    assert!(beside(&cx, TimeDelta::days(60)).await.ids.next::<i64>() > last);
}

#[tokio::test]
async fn number_that_was_lost_is_replaced() {
    let (cx, _folder, _database) = open().await;
    let first: i64 = cx.ids.next();
    cx.node.renew().await.unwrap();
    assert_eq!(cx.ids.next::<i64>(), first + 1, "it is kept for as long as it is renewed");
    cx.db.execute_raw("UPDATE id_nodes SET holder = 'another process' WHERE node = 0").await.unwrap();
    cx.node.renew().await.unwrap();
    assert_ne!(low_bits(cx.ids.next()) >> 9, low_bits(first) >> 9);
}
