//! `rookery plugin bench`: measures the requests of the plugin's tests.
//!
//! Each case runs once; then each of its requests that gets the expected response is repeated on that server,
//! sequentially. It does not measure concurrency.

use std::time::Instant;

use serde_json::{Value, json};

use super::project::Project;
use super::test_file::{self, Case, Suite};
use super::test_runner;
use plugin_package::Package;
use terminal::{Failure, Output};

/// Prints one line per request: latency percentiles and peak resource usage.
pub(crate) async fn run(project: &Project, times: u32, output: Output) -> Result<(), Failure> {
    let package = project.package()?;
    let mut lines = Vec::new();
    for (_, suite) in test_file::all(project)? {
        for case in &suite.cases {
            lines.extend(measure(project, &package, &suite, case, times.max(1)).await?);
        }
    }
    output.respond(&lines, || words(&lines))
}

async fn measure(
    project: &Project,
    package: &Package,
    suite: &Suite,
    case: &Case,
    times: u32,
) -> Result<Vec<Value>, Failure> {
    let (stage, names) = test_runner::begin(project, package, suite).await?;
    let mut lines = Vec::new();
    for step in &case.steps {
        let Ok(sent) = test_runner::request(&stage, step, &names).await else { continue };
        if stage.send(&sent).await?.status != step.status.unwrap_or(200) {
            continue;
        }
        let mut micros = Vec::with_capacity(times as usize);
        for _ in 0..times {
            let begun = Instant::now();
            stage.send(&sent).await?;
            micros.push(u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX));
        }
        micros.sort_unstable();
        let at = |percent: usize| micros[(micros.len() - 1) * percent / 100];
        let stats = stage.cx.registry().find(&stage.name).map(|active| active.component.stats()).unwrap_or_default();
        lines.push(json!({
            "request": format!("{} {}", sent.method, sent.path), "times": times,
            "p50_us": at(50), "p95_us": at(95), "p99_us": at(99), "cpu_peak_us": u64::try_from(stats.cpu_peak.as_micros()).unwrap_or(u64::MAX),
            "memory_peak_bytes": stats.memory_peak, "host_calls_peak": stats.host_calls_peak,
        }));
    }
    stage.close().await;
    Ok(lines)
}

fn words(lines: &[Value]) -> String {
    let head = ["p50 us", "p95 us", "p99 us", "cpu us", "host", "KiB"].map(|word| format!("{word:>8}")).join(" ");
    let mut text = format!("{head}  request (cpu, host calls and memory: the peaks so far)\n");
    for line in lines {
        let figure = |key: &str| line[key].as_u64().unwrap_or_default();
        let kib = figure("memory_peak_bytes") / 1024;
        let times =
            ["p50_us", "p95_us", "p99_us", "cpu_peak_us", "host_calls_peak"].map(|key| format!("{:>8}", figure(key)));
        let request = line["request"].as_str().unwrap_or_default();
        text.push_str(&format!("{} {kib:>8}  {request}\n", times.join(" ")));
    }
    text
}
