//! Kills in the middle of the job that carries the followers of an account that moved over to its new account.
//!
//! Runs the real binary and ends it with SIGKILL.

use std::time::{Duration, Instant};

use database::Db;
use store::moving::Move;

use crate::harness::TestDatabase;
use crate::platform::crash::{PATIENCE, Server, finish_jobs, now, prepare, program, settle, skip_back_off};
use crate::seed::Seed;

/// Some batches of the job.
const FOLLOWERS: i64 = 400;
const KILLS: usize = 3;

async fn count(db: &Db, what: &str) -> i64 {
    db.fetch_raw::<(i64,)>(&format!("SELECT COUNT(*) FROM {what}")).await.unwrap()[0].0
}

/// Seeds an account with followers that moved, and the job that is due for it. Returns the old account and the new one.
async fn prepare_move(db: &Db) -> (i64, i64) {
    let mut seed = Seed::after(db.engine(), "example.test", 10_000);
    let [from, to] = ["before", "after"].map(|name| seed.account(name, None));
    for number in 0..FOLLOWERS {
        let follower = seed.account(&format!("fan{number}"), None);
        seed.follow(follower, from);
        if number % 40 == 0 {
            let list = seed.list(follower, "list");
            seed.list_member(list, from);
        }
    }
    let id = seed.next_id();
    seed.write(db).await;
    let time = model::clock::Clock::system().now();
    let moved = Move {
        id: id.into(),
        account_id: from.into(),
        target_account_id: to.into(),
        followers_count: FOLLOWERS,
        created_at: time,
    };
    let job = store::job::NewJob {
        id: id.into(),
        lane: model::job::Lane::Background,
        kind: "carry_over",
        key: None,
        payload: serde_json::json!({ "moved": id.to_string(), "part": "follows", "after": "0" }),
        share: None,
        run_at: time,
        now: time,
    };
    let mut tx = db.begin().await.unwrap();
    store::moving::insert(&mut tx, &moved).await.unwrap();
    store::job::insert(&mut tx, job).await.unwrap();
    tx.commit().await.unwrap();
    (from, to)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_while_followers_are_carried_over_loses_and_doubles_none() {
    let folder = tempfile::tempdir().unwrap();
    let database = TestDatabase::create(folder.path()).await;
    let db = prepare(&database.url).await;
    let (from, to) = prepare_move(&db).await;
    let following = format!("follows WHERE target_account_id = {to}");
    for _ in 0..KILLS {
        let before = count(&db, &following).await;
        // Jobs run before the server is ready.
        let mut server = Server::spawn(program(folder.path(), &database.url));
        let begun = Instant::now();
        while count(&db, &following).await == before {
            assert!(begun.elapsed() < PATIENCE, "the work does not go on after a kill");
            skip_back_off(&db, "carry_over").await;
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        server.kill();
        // Each follower has the one follow or the other.
        let kept = format!("follows WHERE target_account_id IN ({from}, {to})");
        assert_eq!(count(&db, &kept).await, FOLLOWERS);
        let release = format!("UPDATE jobs SET lease_until = {} WHERE state = 'running'", now(&db));
        db.execute_raw(&release).await.unwrap();
        if count(&db, &following).await == FOLLOWERS {
            break;
        }
    }
    let server = Server::start(folder.path(), &database.url).await;
    finish_jobs(&db, "carry_over").await;
    settle(&db).await;
    assert_eq!(count(&db, &following).await, FOLLOWERS);
    assert_eq!(count(&db, &format!("follows WHERE target_account_id = {from}")).await, 0);
    assert_eq!(count(&db, &format!("list_accounts WHERE account_id = {to}")).await, FOLLOWERS / 40);
    assert_eq!(count(&db, "notifications WHERE type = 'move'").await, FOLLOWERS, "one each");
    drop(server);
    db.close().await;
}
