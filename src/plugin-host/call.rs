//! One call into a guest: circuit breaker, slot, instance, limits, and how it ended.
//!
//! Reached from the methods of [`Plugin`](crate::Plugin). An instance goes back to the pool only after a normal return:
//! a trap, a timeout or a caller that goes away discards it. The caller decides the effect of a failed call on a
//! request, from [`CallError`].
//!
//! Spec: docs/plugins.md#26-limits.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use tracing::Instrument as _;
use wasmtime::{Error, FrameInfo, PoolConcurrencyLimitError, Store, Trap, WasmBacktrace};

use crate::bindings::imports::types::Failure;
use crate::breaker::Admission;
use crate::byte_size::ByteSize;
use crate::clock::SLICE_TICKS;
use crate::error::{CallError, CallErrorKind};
use crate::host::Host;
use crate::instance::{self, Live, Template};
use crate::limits::{InstancePolicy, Limits};
use crate::part::Part;
use crate::plugin_metrics::{CallKind, CallTarget, PluginMetrics};
use crate::pool::{Pool, ended};
use crate::serve::too_much_out;
use crate::state::State;

/// The future of a guest's export.
pub(crate) type GuestFuture<'a, R> = Pin<Box<dyn Future<Output = wasmtime::Result<Result<R, Failure>>> + Send + 'a>>;

/// CPU budget of a self-test, and the most that starting an instance may use. No manifest can raise it: the server's
/// database waits meanwhile.
const LIFECYCLE_CPU: Duration = Duration::from_secs(2);
/// Wall-clock budget of the same.
const LIFECYCLE_WALL: Duration = Duration::from_secs(3);

/// A poll that took so long is taken for computation rather than waiting. Shorter than a time slice, which may begin
/// between two ticks.
const BUSY_POLL: Duration = Duration::from_millis(SLICE_TICKS - 1);

/// Runs the calls of one generation: its pool, its limits and its metrics.
pub(crate) struct Runner {
    pub(crate) plugin: String,
    pub(crate) template: Arc<Template>,
    /// Of routes, jobs and commands.
    pub(crate) pool: Arc<Pool>,
    /// Of hooks, for which other people's requests wait: slow routes must not take their places.
    pub(crate) hooks: Arc<Pool>,
    /// Of hooks that decide about a change ([`Part::Filters`]): slow decorations must not take their places.
    pub(crate) filters: Arc<Pool>,
    pub(crate) metrics: PluginMetrics,
}

/// The called function, and the host that serves it.
pub(crate) struct CallRequest<'a> {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) kind: CallKind,
    pub(crate) name: &'a str,
    /// Size of its parameters, which counts towards `bytes_in`.
    pub(crate) bytes: usize,
}

impl Runner {
    fn limits(&self) -> &Limits {
        &self.template.limits
    }

    /// Calls the guest under all limits.
    pub(crate) async fn call<R: ByteSize + Send>(
        &self,
        order: CallRequest<'_>,
        work: impl for<'a> FnOnce(&'a mut Live) -> GuestFuture<'a, R> + Send,
    ) -> Result<R, CallError> {
        let target = self.metrics.target(order.kind, order.name);
        let span = tracing::info_span!(
            "plugin",
            plugin.name = %self.plugin,
            plugin.kind = target.kind.name(),
            plugin.call = %target.name
        );
        let (began, person) = (Instant::now(), order.host.person());
        let result = match self.admit(&target) {
            Ok(mut trial) => {
                let result = Box::pin(self.placed(order, work)).instrument(span).await;
                trial.end(result.as_ref().err(), person);
                result
            }
            Err(refused) => Err(refused),
        };
        let result = result.map_err(|error| CallError { person, ..error });
        let error = result.as_ref().err();
        self.metrics.ended(&target, error, began.elapsed());
        result
    }

    /// Checks the breaker of the plugin's database time and the breaker of the called function.
    #[expect(clippy::result_large_err, reason = "errors are few, and returned immediately")]
    fn admit<'a>(&self, target: &'a CallTarget) -> Result<AdmittedCall<'a>, CallError> {
        if target.kind != CallKind::Lifecycle {
            self.check_database(Part::of(target.kind, &target.name))?;
        }
        AdmittedCall::begin(target).map_err(|wait| open("breaker", wait))
    }

    /// Refuses while the circuit breaker of the part's time in the database is open.
    #[expect(clippy::result_large_err, reason = "as above")]
    pub(crate) fn check_database(&self, part: Part) -> Result<(), CallError> {
        let (limit, name) = (self.limits().database.as_millis(), part.name());
        let admitted = self.metrics.database_breaker(part, |breaker, now| breaker.admit(now));
        admitted.map_err(|wait| open(&format!("db-time: {name} used more than {limit} ms within a minute"), wait))
    }

    /// The instances for this call.
    fn pool(&self, kind: CallKind, name: &str) -> &Pool {
        match (kind, Part::of(kind, name)) {
            (CallKind::Hook, Part::Filters) => &self.filters,
            (CallKind::Hook, Part::Routes | Part::Jobs | Part::Decorations) => &self.hooks,
            (CallKind::Route | CallKind::Job | CallKind::Command | CallKind::Lifecycle, _) => &self.pool,
        }
    }

    /// The instance pools.
    pub(crate) fn pools(&self) -> [&Arc<Pool>; 3] {
        [&self.pool, &self.hooks, &self.filters]
    }

    /// Updates the gauges of running calls and idle instances.
    fn count_instances(&self) {
        let pools = self.pools();
        self.metrics
            .instances(pools.iter().map(|pool| pool.running()).sum(), pools.iter().map(|pool| pool.idle()).sum());
    }

    async fn placed<R: ByteSize + Send>(
        &self,
        order: CallRequest<'_>,
        work: impl for<'a> FnOnce(&'a mut Live) -> GuestFuture<'a, R> + Send,
    ) -> Result<R, CallError> {
        let limit = self.limits().bytes_in;
        if order.bytes > limit {
            return Err(ended(
                CallErrorKind::Limit,
                format!("bytes-in: the call brings more than {} KiB", limit >> 10),
            ));
        }
        let queued = Instant::now();
        let pool = self.pool(order.kind, order.name);
        let running = pool.enter(self.limits()).await?;
        self.metrics.queue_wait.record(queued.elapsed().as_secs_f64());
        self.count_instances();
        let result = tokio::select! {
            biased;
            result = self.run(order, work) => result,
            () = pool.cut_off() => Err(ended(CallErrorKind::Drained, "the plugin was replaced while it ran")),
        };
        drop(running);
        self.count_instances();
        result
    }

    async fn run<R: ByteSize + Send>(
        &self,
        order: CallRequest<'_>,
        work: impl for<'a> FnOnce(&'a mut Live) -> GuestFuture<'a, R> + Send,
    ) -> Result<R, CallError> {
        let (limits, pool) = (self.limits(), self.pool(order.kind, order.name));
        let _ticking = self.template.ticker.run();
        let (cpu, wall, policy) = match order.kind {
            CallKind::Hook => (limits.hook_cpu, limits.hook_wall, limits.hook_policy),
            CallKind::Route | CallKind::Job | CallKind::Command => {
                (limits.route_cpu, limits.route_wall, limits.route_policy)
            }
            CallKind::Lifecycle => (LIFECYCLE_CPU, LIFECYCLE_WALL, limits.route_policy),
        };
        // Poisoned by default: the instance is out of the pool, and only a normal return puts it back.
        let mut live = self.instance(&order, policy).await?;
        live.calls += 1;
        instance::enter(&mut live.store, order.host, cpu, order.bytes);
        let outcome = charged(within(tokio::time::Instant::now(), wall, work(&mut live)).await, &mut live.store);
        let outcome = self.leave(&mut live.store, outcome);
        if outcome.is_err() {
            self.metrics.discarded();
        } else if policy == InstancePolicy::Pooled && !pool.keep(live) {
            self.metrics.recycled();
        }
        match outcome? {
            Ok(answer) => Ok(answer),
            Err(failure) => Err(failed(failure)),
        }
    }

    async fn instance(&self, order: &CallRequest<'_>, policy: InstancePolicy) -> Result<Live, CallError> {
        if policy == InstancePolicy::Pooled {
            let (live, worn) = self.pool(order.kind, order.name).take();
            (0..worn).for_each(|_| self.metrics.recycled());
            if let Some(live) = live {
                return Ok(live);
            }
        }
        match self.fresh(&order.host).await {
            Err(error) if error.kind == CallErrorKind::Busy => {
                self.template.crowd.make_room();
                self.fresh(&order.host).await
            }
            made => made,
        }
    }

    /// A new instance, after `init`. The start has a separate time budget: a plugin that starts slowly could otherwise
    /// never serve a call with a short budget.
    pub(crate) async fn fresh(&self, host: &Arc<dyn Host>) -> Result<Live, CallError> {
        let began = Instant::now();
        let _ticking = self.template.ticker.run();
        let wall = self.limits().route_wall.min(LIFECYCLE_WALL);
        let mut live = self.started(host, wall).await?;
        let begun = within(began.into(), wall, live.init()).await;
        match self.leave(&mut live.store, begun)? {
            Ok(()) => {
                self.metrics.instantiated(began.elapsed());
                Ok(live)
            }
            Err(text) => Err(ended(CallErrorKind::Trap, format!("init refused: {}", one_line(&text)))),
        }
    }

    async fn started(&self, host: &Arc<dyn Host>, wall: Duration) -> Result<Live, CallError> {
        let mut store = instance::store(&self.template);
        instance::enter(&mut store, Arc::clone(host), self.limits().route_cpu.min(LIFECYCLE_CPU), 0);
        let mut slot = Some(store);
        let made = within(tokio::time::Instant::now(), wall, Live::start(Arc::clone(&self.template), &mut slot)).await;
        match (made, slot) {
            (End::Returned(Ok(live)), _) => Ok(live),
            (end, Some(mut store)) => Err(self.leave(&mut store, end).err().unwrap_or_else(unmade)),
            (_, None) => Err(unmade()),
        }
    }

    /// Ends a call that `instance::enter` began: records the guest's use of resources, and returns its result.
    #[expect(clippy::result_large_err, reason = "errors are few, and returned immediately")]
    fn leave<T>(&self, store: &mut Store<State>, end: End<T>) -> Result<T, CallError> {
        let state = store.data_mut();
        let cpu = state.clock.stand();
        let scope = state.scope.take();
        let memory = state.memory;
        let (tripped, last_words) = scope.map_or((None, None), |scope| {
            self.metrics.used(&scope.used, cpu, memory);
            (scope.tripped, scope.last_words)
        });
        match end {
            End::Returned(Ok(answer)) => Ok(answer),
            End::Returned(Err(error)) => Err(explain(self.limits(), tripped, last_words, &error)),
            End::Late(wall) => Err(ended(CallErrorKind::Wall, format!("wall: used its {} ms", wall.as_millis()))),
            End::Panicked(text) => {
                tracing::error!(plugin.name = %self.plugin, "the server panicked in a call: {text}");
                Err(ended(CallErrorKind::Trap, format!("the server panicked: {text}")))
            }
        }
    }
}

/// The end of a call, once its answer was charged like everything else that the guest passes to the host.
fn charged<T: ByteSize>(end: End<T>, store: &mut Store<State>) -> End<T> {
    match end {
        End::Returned(Ok(answer)) => {
            let charged = store.data_mut().charge_answer(answer.total_bytes());
            End::Returned(charged.map(|()| answer))
        }
        End::Returned(Err(_)) | End::Late(_) | End::Panicked(_) => end,
    }
}

fn open(what: &str, wait: Duration) -> CallError {
    ended(CallErrorKind::Open, format!("{what}: open for another {} ms", wait.as_millis()))
}

fn unmade() -> CallError {
    ended(CallErrorKind::Trap, "the instance could not be made")
}

fn failed(failure: Failure) -> CallError {
    let message = format!("failure {} {}: {}", failure.status, one_line(&failure.code), one_line(&failure.message));
    CallError { kind: CallErrorKind::Failure, message, failure: Some(failure), backtrace: Vec::new(), person: None }
}

/// How running guest code ended.
pub(crate) enum End<T> {
    Returned(wasmtime::Result<T>),
    Late(Duration),
    Panicked(String),
}

/// Runs `work` until `wall` has passed since `begun`, and catches its panics. After a poll that took a whole time
/// slice, the next ones run under `block_in_place`, so that another thread takes over this one's other tasks.
async fn within<T>(
    begun: tokio::time::Instant,
    wall: Duration,
    work: impl Future<Output = wasmtime::Result<T>>,
) -> End<T> {
    let mut work = pin!(work);
    let mut long = false;
    let caught = std::future::poll_fn(|context| {
        let began = Instant::now();
        let mut poll = || catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        let polled = if long { tokio::task::block_in_place(poll) } else { poll() };
        long = began.elapsed() >= BUSY_POLL && can_make_way();
        match polled {
            Ok(Poll::Ready(result)) => Poll::Ready(End::Returned(result)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(panic) => Poll::Ready(End::Panicked(text_of(&*panic))),
        }
    });
    tokio::time::timeout_at(begun + wall, caught).await.unwrap_or(End::Late(wall))
}

/// True on a multi-threaded runtime, where another thread can take over this one's tasks.
fn can_make_way() -> bool {
    let runtime = tokio::runtime::Handle::try_current();
    runtime.is_ok_and(|runtime| runtime.runtime_flavor() == tokio::runtime::RuntimeFlavor::MultiThread)
}

fn text_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    one_line(&text.unwrap_or_else(|| "without a message".to_owned()))
}

/// The limit or the trap behind an error, with the guest's backtrace. The guest's last log lines have the reason of the
/// trap.
fn explain(
    limits: &Limits,
    tripped: Option<(CallErrorKind, String)>,
    last_words: Option<String>,
    error: &Error,
) -> CallError {
    let (ended, mut message) = tripped.unwrap_or_else(|| guess(limits, error));
    if let Some(words) = last_words.filter(|_| ended == CallErrorKind::Trap) {
        message = format!("{message}: {words}");
    }
    let frames = error.downcast_ref::<WasmBacktrace>().map(WasmBacktrace::frames).unwrap_or_default();
    CallError { kind: ended, message, failure: None, backtrace: frames.iter().map(place).collect(), person: None }
}

/// The function of a frame, and its file and line where the component says which and the engine reads that
/// (`EngineOptions::quick`).
fn place(frame: &FrameInfo) -> String {
    let name = frame.func_name().map(|name| format!("{:#}", rustc_demangle::demangle(name)));
    let name = name.unwrap_or_else(|| format!("function {}", frame.func_index()));
    let at = frame.symbols().iter().find_map(|symbol| Some((symbol.file()?, symbol.line()?)));
    at.map_or_else(|| one_line(&name), |(file, line)| one_line(&format!("{name} at {file}:{line}")))
}

fn guess(limits: &Limits, error: &Error) -> (CallErrorKind, String) {
    if error.is::<PoolConcurrencyLimitError>() {
        return (CallErrorKind::Busy, "instances: the instances of all plugins together are in use".to_owned());
    }
    if let Some(trap) = error.downcast_ref::<Trap>() {
        return match trap {
            Trap::StackOverflow => {
                (CallErrorKind::Limit, format!("stack: used its {} KiB", crate::engine::STACK >> 10))
            }
            Trap::Interrupt => (CallErrorKind::Cpu, "cpu: interrupted".to_owned()),
            other => (CallErrorKind::Trap, one_line(other.to_string().trim_start_matches("wasm trap: "))),
        };
    }
    let text = one_line(&error.root_cause().to_string());
    if text.contains("fuel allocated for hostcalls") {
        return (CallErrorKind::Limit, too_much_out(limits.bytes_out, "once"));
    }
    if text.contains("handle limit exceeded") {
        return (CallErrorKind::Limit, format!("handles: has {} already", crate::instance::HANDLES));
    }
    (CallErrorKind::Trap, text)
}

/// Replaces control characters by spaces and cuts at 500 characters, so that a guest's text fits one line.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(500).collect()
}

/// A call that the circuit breaker admitted. Reports to it how the call ended, or that a probe was abandoned.
struct AdmittedCall<'a> {
    target: &'a CallTarget,
    probe: bool,
}

impl<'a> AdmittedCall<'a> {
    /// Asks the breaker; the error is how long it stays open.
    fn begin(target: &'a CallTarget) -> Result<Self, Duration> {
        match target.breaker(|breaker, now| breaker.admit(now)) {
            Admission::Call => Ok(Self { target, probe: false }),
            Admission::Probe => Ok(Self { target, probe: true }),
            Admission::Refused(wait) => Err(wait),
        }
    }

    fn end(&mut self, error: Option<&CallError>, person: Option<i64>) {
        let failed = match error.map(|error| error.kind) {
            None => false,
            Some(CallErrorKind::Trap | CallErrorKind::Cpu | CallErrorKind::Wall | CallErrorKind::Limit) => true,
            Some(CallErrorKind::Failure) => {
                error.and_then(|error| error.failure.as_ref()).is_some_and(|f| f.status >= 500)
            }
            // Says nothing about the plugin: a probe counts as abandoned, and another call becomes the probe.
            Some(CallErrorKind::Busy | CallErrorKind::Open | CallErrorKind::Drained) => return,
        };
        self.probe = false;
        self.target.breaker(|breaker, now| breaker.ended(failed, person, now));
    }
}

impl Drop for AdmittedCall<'_> {
    fn drop(&mut self) {
        if self.probe {
            self.target.breaker(|breaker, now| breaker.abandoned(now));
        }
    }
}
