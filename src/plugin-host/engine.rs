//! The wasmtime engine: its configuration, and loading a package into a [`Plugin`].
//!
//! Reached from `src/plugins`, with one engine per process. Instances come from the pooling allocator, with
//! copy-on-write images of their initial memory; guests are interrupted by epochs. Does not decide which plugins are
//! loaded or when.
//!
//! Spec: docs/plugins.md#22-loading, steps 2 to 7.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use wasmtime::component::Component;
use wasmtime::{
    Config, Enabled, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig, WasmBacktraceDetails, WasmFeatures,
};

use crate::call::{Runner, one_line};
use crate::clock::{self, Ticker};
use crate::compile::Compiler;
use crate::contract::{PACKAGE, TRACK};
use crate::error::{CallError, LoadError, Stage};
use crate::functions::Functions;
use crate::host::Host;
use crate::instance::{Indices, Template};
use crate::link::Linkers;
use crate::plugin::{Package, Plugin};
use crate::plugin_metrics::PluginMetrics;
use crate::pool::{Pool, Pools};
use crate::validate::{FEATURES, Interfaces};

/// Bytes of stack that a guest may use.
pub(crate) const STACK: usize = 512 << 10;

/// Bytes of a fiber's stack, which a guest shares with the async host functions that it calls. Reserved address space:
/// only the pages that are touched take memory.
const ASYNC_STACK: usize = STACK + (3 << 20);

/// Core instances, memories and tables of one component instance: the most that are allowed, and the averages from
/// which the pooling allocator's totals are computed.
const MODULES: u32 = 64;
const MODULES_ON_AVERAGE: u32 = 6;
const MEMORIES: u32 = 4;
const TABLES: u32 = 16;
const TABLES_ON_AVERAGE: u32 = 4;

/// Elements of the largest table that the pooling allocator has room for.
const TABLE_ELEMENTS: usize = 200_000;

/// How the engine is set up.
#[derive(Clone)]
pub struct EngineOptions {
    /// Folder of the AOT cache of compiled components; without one, each start compiles again.
    pub cache: Option<PathBuf>,
    /// Key of the MAC that authenticates the cache's files.
    pub key: [u8; 32],
    /// Compile without optimisation, for development: faster to compile, slower to run. A function that was compiled before is
    /// not compiled again: of an interpreter with another script, hardly any. Backtraces have the files and lines
    /// of components with debug information, which only an author's own component is trusted to have.
    pub quick: bool,
    /// Instances of all plugins together: the slots of the pooling allocator.
    pub instances: u32,
    /// Largest linear memory of an instance, bytes. A plugin whose own limit is higher is refused.
    pub memory: usize,
    /// The program that compiles components in a child process, when it is called as [`compile_worker`](crate::compile_worker)
    /// says. Without it, and in development, components are compiled in this process.
    pub compiler: Option<PathBuf>,
}

/// Compiles and runs components. Cheap to clone; the ticker thread ends with the last clone and the last plugin.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    engine: wasmtime::Engine,
    linkers: Linkers,
    compiler: Compiler,
    ticker: Arc<Ticker>,
    crowd: Arc<Pools>,
    memory: usize,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

/// Bytes of linear memory that the pooling allocator resets and keeps resident when an instance is dropped: what most
/// calls touch. The rest is returned to the operating system, which costs page faults when it is touched again.
const KEPT_MEMORY: usize = 128 << 10;
/// The same for tables, bytes.
const KEPT_TABLE: usize = 16 << 10;

fn config(options: &EngineOptions) -> wasmtime::Result<Config> {
    let instances = options.instances.max(1);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        .total_core_instances(instances.saturating_mul(MODULES_ON_AVERAGE))
        .total_memories(instances)
        .total_tables(instances.saturating_mul(TABLES_ON_AVERAGE))
        .total_stacks(instances)
        .max_core_instances_per_component(MODULES)
        .max_memories_per_component(MEMORIES)
        .max_tables_per_component(TABLES)
        .max_memories_per_module(MEMORIES)
        .max_tables_per_module(TABLES)
        .max_memory_size(options.memory)
        .table_elements(TABLE_ELEMENTS)
        .max_unused_warm_slots(instances)
        .linear_memory_keep_resident(KEPT_MEMORY)
        .table_keep_resident(KEPT_TABLE)
        .pagemap_scan(Enabled::Auto);
    let mut config = compile_config(options.quick);
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    if options.quick {
        config.enable_incremental_compilation(Arc::new(Functions::default()))?;
    }
    Ok(config)
}

/// What machine code depends on: the same in the process that compiles it and in the one that runs it.
pub(crate) fn compile_config(quick: bool) -> Config {
    let mut config = Config::new();
    config
        .wasm_features(WasmFeatures::all().difference(FEATURES), false)
        .wasm_features(FEATURES, true)
        .concurrency_support(false)
        .epoch_interruption(true)
        .max_wasm_stack(STACK)
        .async_stack_size(ASYNC_STACK)
        .memory_init_cow(true)
        .wasm_backtrace_details(if quick { WasmBacktraceDetails::Enable } else { WasmBacktraceDetails::Disable })
        .cranelift_opt_level(if quick { OptLevel::None } else { OptLevel::Speed });
    config
}

impl Engine {
    /// Starts an engine: a ticker thread and reserved address space. Create none where no plugin is enabled.
    ///
    /// # Errors
    /// [`Stage::Compile`] when the address space cannot be reserved; the sentence says what to change.
    pub fn new(options: EngineOptions) -> Result<Self, LoadError> {
        let instances = options.instances;
        let refused = |why: &dyn fmt::Display| {
            LoadError::new(
                Stage::Compile,
                format!(
                    "the machine gave no room for {instances} plugin instances ({}): allow more address space (ulimit -v), \
                     or set fewer instances",
                    one_line(&why.to_string())
                ),
            )
        };
        let engine = config(&options).and_then(|config| wasmtime::Engine::new(&config));
        let engine = engine.map_err(|error| refused(&error.root_cause()))?;
        let (ticker, _) = Ticker::start(engine.weak(), clock::REST).map_err(|error| refused(&error))?;
        let memory = options.memory;
        let compiler = Compiler::new(engine.clone(), options);
        let (linkers, crowd) = (Linkers::default(), Arc::default());
        Ok(Self(Arc::new(Inner { engine, linkers, compiler, ticker, crowd, memory })))
    }

    /// The interfaces that `wasm` imports and exports, without compiling it.
    ///
    /// # Errors
    /// [`Stage::Validate`] for bytes that are not a valid component, [`Stage::Contract`] for one that imports or
    /// exports what this version of the contract does not have.
    pub fn inspect(plugin: &str, wasm: &[u8]) -> Result<Interfaces, LoadError> {
        Interfaces::of(plugin, wasm)
    }

    /// Checks, compiles (or loads from the cache) and links `package`, then instantiates it once to prove that it
    /// starts and that `init` accepts. Validation and compilation run on blocking threads.
    ///
    /// # Errors
    /// The [`Stage`] that failed and one sentence for the admin.
    pub async fn load(&self, package: Package, host: Arc<dyn Host>) -> Result<Plugin, LoadError> {
        let shape = self.checked(&package).await?;
        let began = Instant::now();
        let component = self.0.compiler.component(&package.name, &package.wasm).await?;
        metrics::histogram!("plugin_reload_seconds", "stage" => "compile").record(began.elapsed().as_secs_f64());
        self.fits(&package, &component)?;
        let runner = self.linked(package.clone(), &component)?;
        let mut live = runner.fresh(&host).await.map_err(|error| unstartable(&package.name, &error))?;
        live.check().map_err(|error| mismatched(&package.name, &error))?;
        // Not added to the pool: `init` ran with the host of this load, not with the host of a call.
        drop(live);
        Ok(Plugin::new(package.version, shape, runner))
    }

    /// The checks that need no compilation: memory limit, validity, contract, manifest and grants.
    async fn checked(&self, package: &Package) -> Result<Interfaces, LoadError> {
        let name = &package.name;
        if package.limits.memory > self.0.memory {
            let (wants, offers) = (package.limits.memory >> 20, self.0.memory >> 20);
            return Err(LoadError::new(
                Stage::Validate,
                format!("{name}: asks for {wants} MiB of memory, and this server gives {offers} MiB: lower `memory`"),
            ));
        }
        let (inner, plugin, wasm) = (Arc::clone(&self.0), name.clone(), Arc::clone(&package.wasm));
        let shape = tokio::task::spawn_blocking(move || inner.compiler.interfaces(&plugin, &wasm)).await;
        let shape = shape.map_err(|_| {
            LoadError::new(
                Stage::Validate,
                format!("{name}: the component made its checker fail: report this with the file"),
            )
        })??;
        shape.agrees(name, &package.granted, &package.exports)?;
        Ok(shape)
    }

    /// Refuses a component whose initial memory or tables exceed its limits.
    fn fits(&self, package: &Package, component: &Component) -> Result<(), LoadError> {
        let name = &package.name;
        let refuse = |sentence: String| Err(LoadError::new(Stage::Validate, sentence));
        let Some(needs) = component.resources_required() else {
            return refuse(format!("{name}: the component imports modules: build it as one component"));
        };
        // Counted in pages of 64 KiB.
        let memory = needs.max_initial_memory_size.unwrap_or(0).saturating_mul(64 << 10);
        let most = u64::try_from(package.limits.memory).unwrap_or(u64::MAX);
        if memory > most {
            let (wants, has) = (memory.div_ceil(1 << 20), most >> 20);
            return refuse(format!(
                "{name}: begins with {wants} MiB of memory, and its limit is {has} MiB: raise `memory` in plugin.toml"
            ));
        }
        let (table, most) = (needs.max_initial_table_size.unwrap_or(0), package.limits.table_elements);
        if table > u64::try_from(most).unwrap_or(u64::MAX) {
            return refuse(format!("{name}: begins with a table of {table} elements, and the limit is {most}"));
        }
        if needs.num_memories > MEMORIES || needs.num_tables > TABLES {
            let (memories, tables) = (needs.num_memories, needs.num_tables);
            return refuse(format!(
                "{name}: needs {memories} memories and {tables} tables, and the limits are {MEMORIES} and {TABLES}"
            ));
        }
        Ok(())
    }

    fn linked(&self, package: Package, component: &Component) -> Result<Runner, LoadError> {
        let name = package.name;
        let linker = self.0.linkers.get(&self.0.engine, &package.granted).map_err(|e| mismatched(&name, &e))?;
        let pre = linker.instantiate_pre(component).map_err(|error| mismatched(&name, &error))?;
        let indices = Indices::new(&pre);
        let limits = Arc::new(package.limits);
        let pools = [(); 3].map(|()| Arc::new(Pool::new(&limits)));
        pools.iter().for_each(|pool| self.0.crowd.join(pool));
        let [pool, hooks, filters] = pools;
        let (ticker, crowd) = (Arc::clone(&self.0.ticker), Arc::clone(&self.0.crowd));
        let environment = package.environment;
        let metrics = PluginMetrics::new(&name, &limits);
        let template = Arc::new(Template { pre, indices, limits, environment, ticker, crowd });
        Ok(Runner { plugin: name, template, pool, hooks, filters, metrics })
    }
}

/// The fault for a function or type that differs from the contract's.
fn mismatched(plugin: &str, error: &wasmtime::Error) -> LoadError {
    let mut why: Vec<String> = error.chain().map(|cause| one_line(&cause.to_string())).collect();
    why.dedup();
    LoadError::new(
        Stage::Contract,
        format!(
            "{plugin}: was built against another draft of {PACKAGE}@{TRACK} ({}): build it with this server's SDK",
            why.join(": ")
        ),
    )
}

fn unstartable(plugin: &str, error: &CallError) -> LoadError {
    let place = error.backtrace.first().map(|function| format!(", in {function}")).unwrap_or_default();
    LoadError::new(Stage::Instantiate, format!("{plugin}: does not start: {}{place}", error.message))
}
