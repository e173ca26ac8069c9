//! Prometheus metrics, on a separate listener that clients do not reach.
//!
//! Counters and histograms are recorded where things happen; gauges (queue depth, connections, cache sizes, memory) are
//! read at scrape time; what takes long to measure is measured every hour, beside the answer. Without `metrics.listen` nothing is recorded.
//!
//! Spec: <https://prometheus.io/docs/instrumenting/exposition_formats/>

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::Instant;

use context::Cx;
use context::error::{Error, Result};

/// Histogram buckets in seconds: from less than a millisecond to the request timeout.
const LATENCY_BUCKETS: &[f64] =
    &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// How often recorded samples are moved into the buckets between scrapes, to bound memory.
const UPKEEP: Duration = Duration::from_secs(5);

/// The interval of size measurements that read the data.
const MEASURE_EVERY: Duration = Duration::from_secs(60 * 60);

#[derive(Clone)]
struct Exporter {
    cx: Cx,
    handle: PrometheusHandle,
    /// When sizes were measured last.
    measured: Arc<Mutex<Option<Instant>>>,
}

/// Installs the recorder, and serves `GET /metrics` on `listener` until `stop` is true.
///
/// # Errors
/// When a recorder is already installed.
pub fn serve(cx: Cx, listener: TcpListener, mut stop: watch::Receiver<bool>) -> Result<()> {
    let recorder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Full(rookery_http::observe::REQUEST_SECONDS.to_owned()), LATENCY_BUCKETS)
        .map_err(Error::internal)?
        .build_recorder();
    let handle = recorder.handle();
    ::metrics::set_global_recorder(recorder).map_err(|error| Error::internal(error.to_string()))?;
    let upkeep = handle.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(UPKEEP).await;
            upkeep.run_upkeep();
        }
    });
    let router =
        Router::new().route("/metrics", get(render)).with_state(Exporter { cx, handle, measured: Arc::default() });
    tokio::spawn(async move {
        let stopped = async move {
            let _ = stop.wait_for(|stop| *stop).await;
        };
        if let Err(error) = axum::serve(listener, router).with_graceful_shutdown(stopped).await {
            tracing::error!(%error, "the metrics listener ended");
        }
    });
    Ok(())
}

/// `GET /metrics`
async fn render(State(exporter): State<Exporter>) -> impl IntoResponse {
    if let Err(error) = look(&exporter.cx).await {
        context::log_failure!(error, "could not look at the queue");
    }
    exporter.measure();
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], exporter.handle.render())
}

impl Exporter {
    /// Measures sizes if that is due, for the next scrape.
    fn measure(&self) {
        let mut measured = self.measured.lock().unwrap_or_else(PoisonError::into_inner);
        if measured.is_some_and(|last| last.elapsed() < MEASURE_EVERY) {
            return;
        }
        *measured = Some(Instant::now());
        let cx = self.cx.clone();
        tokio::spawn(async move {
            if let Err(error) = sizes(&cx).await {
                context::log_failure!(error, "could not measure sizes");
            }
        });
    }
}

/// Updates the gauges of sizes.
#[expect(clippy::cast_precision_loss, reason = "a gauge is a float; none of these comes near 2^52")]
async fn sizes(cx: &Cx) -> Result<()> {
    let index = store::status_search::size_bytes(&cx.db).await?;
    ::metrics::gauge!("rookery_search_index_bytes").set(index as f64);
    let cached = store::card::sum_images(&cx.db).await?;
    ::metrics::gauge!("rookery_media_cache_bytes").set(cached as f64);
    for (kind, total) in service::remote::files::stock::overview(cx).await?.kinds {
        ::metrics::gauge!("rookery_remote_files", "kind" => kind.as_str()).set(total.files as f64);
        ::metrics::gauge!("rookery_remote_file_bytes", "kind" => kind.as_str()).set(total.bytes as f64);
    }
    Ok(())
}

/// Updates the gauges.
#[expect(clippy::cast_precision_loss, reason = "a gauge is a float; none of these comes near 2^52")]
async fn look(cx: &Cx) -> Result<()> {
    let pool = cx.db.pool();
    ::metrics::gauge!("rookery_database_connections", "state" => "open").set(f64::from(pool.open));
    ::metrics::gauge!("rookery_database_connections", "state" => "idle").set(pool.idle as f64);
    ::metrics::counter!("rookery_database_statements_total").absolute(cx.db.statements());
    ::metrics::gauge!("rookery_cache_bytes", "cache" => "accounts").set(cx.caches.accounts.weight() as f64);
    ::metrics::gauge!("rookery_cache_bytes", "cache" => "statuses").set(cx.caches.statuses.weight() as f64);
    ::metrics::gauge!("rookery_rate_limit_counters").set(cx.limits.len() as f64);
    ::metrics::counter!("rookery_rate_limit_counters_shared_total").absolute(cx.limits.overflows());
    if let Some(bytes) = resident_bytes() {
        ::metrics::gauge!("process_resident_memory_bytes").set(bytes as f64);
    }
    for (lane, state, jobs) in store::job::counts(&cx.db).await? {
        ::metrics::gauge!("rookery_jobs", "lane" => lane, "state" => state).set(jobs as f64);
    }
    let counts = store::host::counts(&cx.db).await?;
    for (state, hosts) in [("failing", counts.failing), ("set_aside", counts.set_aside), ("paused", counts.paused)] {
        ::metrics::gauge!("rookery_remote_hosts", "state" => state).set(hosts as f64);
    }
    ::metrics::gauge!("rookery_deliveries", "state" => "owed").set(counts.owed as f64);
    ::metrics::gauge!("rookery_deliveries", "state" => "dead").set(counts.dead as f64);
    Ok(())
}

/// Resident memory (RSS) of this process; `None` where there is no `/proc`.
#[must_use]
pub fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}
