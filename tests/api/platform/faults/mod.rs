//! Faults of the machine: each is reported in one sentence, loses no data, and ends with its cause.

mod away;
mod folders;
mod room;
mod server;

use std::time::{Duration, Instant};

use crate::harness::{Client, TestApp};

/// Time limit of an expected event on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until the server reports that it is ready.
async fn until_ready(app: &TestApp) {
    let begun = Instant::now();
    loop {
        let answer = app.anonymous().get("/readyz").send().await;
        if answer.status == 200 {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{} {}", answer.status, answer.text());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The texts of the statuses of `person`, newest first.
async fn published(person: &Client) -> Vec<String> {
    let path = format!("/api/v1/accounts/{}/statuses?limit=40", person.id());
    let statuses = person.get(&path).ok().await;
    let text = |status: &serde_json::Value| status["content"].as_str().unwrap().to_owned();
    statuses.as_array().unwrap().iter().map(text).collect()
}
