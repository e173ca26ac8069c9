//! Jobs that plugins queue and schedule.

use model::StatusId;
use plugins::call::Mode;
use rookery_plugin_host::imports::queue::Job;

use super::bench::{Bench, code};

/// A component that runs jobs by kind: done, again in an hour, given up, broken.
pub fn worker() -> Vec<u8> {
    wat::parse_str(include_str!("worker.wat")).unwrap()
}

const JOBS: &str = "[permissions]\nqueue = true\n[[job]]\nkind = \"done\"\n[[job]]\nkind = \"again\"\n[[job]]\nkind = \"give_up\"\n[[job]]\nkind = \"broken\"\n[[schedule]]\njob = \"done\"\ncron = \"*/10 * * * *\"\n";

fn job(kind: &str, unique: Option<&str>) -> Job {
    Job {
        kind: kind.to_owned(),
        payload: "{}".to_owned(),
        not_before: None,
        unique: unique.map(str::to_owned),
        max_attempts: 2,
    }
}

pub async fn waiting(bench: &Bench) -> Vec<(String, String)> {
    let text = "SELECT key, state FROM jobs WHERE kind = 'plugin.tray' ORDER BY key";
    bench.app.db().fetch_raw(text).await.unwrap()
}

#[tokio::test]
async fn job_results_of_plugin_are_applied() {
    let bench = Bench::of(JOBS, &worker()).await;
    let call = bench.system(Mode::Ambient);
    let jobs = vec![job("done", Some("a")), job("done", Some("a")), job("again", Some("b")), job("broken", Some("c"))];
    assert_eq!(call.queue_enqueue(jobs).await.unwrap(), 3, "a pending job is not queued again");
    assert_eq!(call.queue_enqueue(vec![job("give_up", Some("d")), job("done", None)]).await.unwrap(), 2);
    assert_eq!(call.queue_cancel("done".to_owned(), vec!["a".to_owned(), "x".to_owned()]).await.unwrap(), 1);
    assert_eq!(code(call.queue_enqueue(vec![job("other", None)]).await), (422, "queue.undeclared".to_owned()));
    let secret = Job { payload: "\"\\u0000\"".to_owned(), ..job("done", None) };
    assert_eq!(code(call.queue_enqueue(vec![secret]).await), (422, "queue.invalid".to_owned()));
    let count = async || store::job::count_ready(bench.app.db(), "plugin.tray").await.unwrap();
    assert_eq!(count().await, 0, "nothing waits before the commit");
    call.0.commit().await.unwrap();
    assert_eq!(count().await, 4);
    bench.app.run_jobs().await;
    let state = |key: &str, state: &str| (key.to_owned(), state.to_owned());
    let schedule = || state("@done:*/10 * * * *", "ready");
    let expected = [schedule(), state("again:b", "ready"), state("broken:c", "ready"), state("give_up:d", "dead")];
    assert_eq!(waiting(&bench).await, expected);
    bench.app.app.clock.advance(chrono::Duration::minutes(5));
    bench.app.run_jobs().await;
    let expected = [schedule(), state("again:b", "ready"), state("broken:c", "dead"), state("give_up:d", "dead")];
    assert_eq!(waiting(&bench).await, expected, "retried as often as requested");
}

#[tokio::test]
async fn jobs_of_paused_plugin_run_on_other_servers() {
    let bench = Bench::of(JOBS, &worker()).await;
    let call = bench.system(Mode::Ambient);
    call.queue_enqueue(vec![job("done", Some("a"))]).await.unwrap();
    call.0.commit().await.unwrap();
    let untouched = async || {
        let tries = "SELECT COUNT(*) FROM jobs WHERE key = 'done:a' AND state = 'ready' AND attempts = 0 AND last_error IS NULL";
        bench.app.number(tries).await
    };
    let platform = bench.app.plugins();
    let pause = platform.plugins.pauses.pause("tray");
    bench.app.run_jobs().await;
    assert_eq!(untouched().await, 1, "neither claimed nor put off");
    drop(pause);
    bench.app.run_jobs().await;
    assert_eq!(untouched().await, 0);
}

#[tokio::test]
async fn schedule_is_queued_once_and_continues() {
    let bench = Bench::of(JOBS, &worker()).await;
    let due = async || -> Vec<(StatusId,)> {
        // The id of a job grows with the time when it was queued.
        bench.app.db().fetch_raw("SELECT id FROM jobs WHERE kind = 'plugin.tray' AND state = 'ready'").await.unwrap()
    };
    bench.app.run_jobs().await;
    bench.app.run_jobs().await;
    let first = due().await;
    assert_eq!(first.len(), 1);
    bench.app.app.clock.advance(chrono::Duration::minutes(9));
    bench.app.run_jobs().await;
    assert_eq!(due().await, first, "it is not due yet");
    bench.app.app.clock.advance(chrono::Duration::minutes(2));
    bench.app.run_jobs().await;
    let second = due().await;
    assert!(second.len() == 1 && second != first, "it ran and waits for the next time");
    plugins::admin::disable(&bench.app.plugins(), &model::Staff::operator(), "tray").await.unwrap();
    plugins::life::reload(&bench.app.plugins(), "tray").await.unwrap();
    bench.app.app.clock.advance(chrono::Duration::days(1));
    bench.app.run_jobs().await;
    assert_eq!(due().await, second, "while the plugin is off its jobs wait");
}
