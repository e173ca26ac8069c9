//! Traces: spans of requests, use cases and SQL statements, sent to a collector by OTLP over HTTP.
//!
//! Only with `telemetry.otlp_endpoint`; without it there is neither a layer nor a thread. Ended spans wait in a bounded
//! queue, from which a thread of the SDK sends them in batches: a request is never blocked, and spans that do not fit
//! are dropped and counted. Events are not sent, and spans of other crates are left out: a span of this server has only
//! a name, a route or a place in the source.
//!
//! Spec: <https://opentelemetry.io/docs/specs/otlp/#otlphttp>

use std::time::Duration;

use async_trait::async_trait;
use opentelemetry::trace::{Link, SpanKind, TraceId, TraceState, TracerProvider as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{ExporterBuildError, Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SamplingDecision, SamplingResult, SdkTracerProvider, ShouldSample};
use outbound::{Client, Target};
use tokio::runtime::Handle;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::registry::LookupSpan;

use config::{Telemetry, WebUrl};

/// How long one batch may take to be sent.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long a stopping server waits until the last spans are sent.
const LAST: Duration = Duration::from_secs(5);
/// The largest response of a collector that is read.
const ANSWER_LIMIT: usize = 64 * 1024;

/// The export of spans.
#[derive(Debug)]
pub struct Traces {
    provider: SdkTracerProvider,
}

impl Traces {
    /// Starts the export if it is configured; batches are sent on `runtime`.
    ///
    /// # Errors
    /// When the endpoint is not one that can be asked.
    pub fn start(config: &Telemetry, runtime: &Handle) -> Result<Option<Self>, ExporterBuildError> {
        let Some(endpoint) = &config.otlp_endpoint else { return Ok(None) };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Collector::new(runtime))
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(traces_of(endpoint))
            .with_timeout(TIMEOUT)
            .build()?;
        let resource = Resource::builder()
            .with_service_name(config.service_name.clone())
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        let provider = SdkTracerProvider::builder()
            .with_resource(resource)
            .with_sampler(Sampler::ParentBased(Box::new(Roots(Sampler::TraceIdRatioBased(config.sampling_ratio)))))
            .with_batch_exporter(exporter)
            .build();
        Ok(Some(Self { provider }))
    }

    /// The layer that makes the spans.
    pub fn layer<S: Subscriber + for<'a> LookupSpan<'a>>(&self) -> impl Layer<S> + use<S> {
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("rookery"))
            .with_context_activation(false)
            .with_location(false)
            .with_target(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_filter(filter_fn(is_sent).with_max_level_hint(LevelFilter::TRACE))
    }

    /// Sends what waits and ends the export. Blocks, so that it is called outside of the runtime.
    pub fn end(self) {
        if let Err(error) = self.provider.shutdown_with_timeout(LAST) {
            tracing::warn!(%error, "the last spans could not be sent");
        }
    }
}

/// The address of the collector for traces.
fn traces_of(endpoint: &WebUrl) -> String {
    format!("{}/v1/traces", endpoint.as_str().trim_end_matches('/'))
}

/// Whether a span is one of this server's crates.
fn is_sent(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && metadata.target().starts_with("rookery")
}

/// Decides about spans without a parent. Statements outside of requests, jobs and commands are those by which the server looks
/// for work, many times a minute.
#[derive(Clone, Debug)]
struct Roots(Sampler);

impl ShouldSample for Roots {
    fn should_sample(
        &self,
        parent: Option<&Context>,
        trace: TraceId,
        name: &str,
        kind: &SpanKind,
        attributes: &[KeyValue],
        links: &[Link],
    ) -> SamplingResult {
        if *kind == SpanKind::Client {
            return SamplingResult {
                decision: SamplingDecision::Drop,
                attributes: Vec::new(),
                trace_state: TraceState::default(),
            };
        }
        self.0.should_sample(parent, trace, name, kind, attributes, links)
    }
}

/// The collector, reached by the server's own HTTP client. An admin names its address, so it may be a private one.
#[derive(Debug)]
struct Collector {
    client: Client,
    runtime: Handle,
}

impl Collector {
    fn new(runtime: &Handle) -> Self {
        let everywhere = ["0.0.0.0/0", "::/0"].map(|network| network.parse().expect("a network"));
        Self { client: Client::new(&everywhere), runtime: runtime.clone() }
    }
}

#[async_trait]
impl HttpClient for Collector {
    /// On the runtime, since the thread that waits for the response has none.
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (head, body) = request.into_parts();
        let target = Target::parse(&head.uri.to_string())?;
        let request = outbound::Request {
            method: head.method,
            target,
            headers: head.headers,
            body,
            timeout: TIMEOUT,
            limit: ANSWER_LIMIT,
        };
        let client = self.client.clone();
        let answer = self.runtime.spawn(async move { client.send_reusing(request).await }).await??;
        let mut response = Response::new(answer.body);
        *response.status_mut() = answer.status;
        *response.headers_mut() = answer.headers;
        Ok(response)
    }
}
