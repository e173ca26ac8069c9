//! Builds components from WebAssembly text, loads them, and serves their calls with a fake host.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use rookery_plugin_host::exports::lifecycle::Environment;
use rookery_plugin_host::exports::{decorate, routes};
use rookery_plugin_host::host::{Core, CoreWrite, Feeds, Kv, Queue, Settings, Sql, Streaming};
use rookery_plugin_host::imports::log;
use rookery_plugin_host::imports::types::{CallContext, Caller, Failure};
use rookery_plugin_host::{
    CallError, Engine, EngineOptions, Export, Host, Import, InstancePolicy, Limits, LoadError, Package, Plugin,
};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// Largest memory of an instance in the tests' engine, bytes.
pub(crate) const MEMORY: usize = 192 << 20;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A guest of `hostile/`, and the interfaces that its first line declares as exports.
fn text(name: &str) -> (String, Vec<String>) {
    let path = folder().join("tests/hostile").join(format!("{name}.wat"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let exports = text.lines().next().and_then(|line| line.strip_prefix(";; exports: ")).unwrap();
    let exports = exports.split_whitespace().map(ToOwned::to_owned).collect();
    (text, exports)
}

/// The guest of that name as a component, and the interfaces that it exports.
pub(crate) fn component(name: &str) -> (Arc<[u8]>, BTreeSet<Export>) {
    let (text, exports) = text(name);
    let prelude = if text.contains(";; own memory") {
        String::new()
    } else {
        std::fs::read_to_string(folder().join("tests/hostile/prelude.wat")).unwrap()
    };
    // Imports come first in a module.
    let (imports, rest): (Vec<_>, Vec<_>) = text.lines().partition(|line| line.starts_with("(import"));
    let module = format!("(module {}\n{prelude}\n{})", imports.join("\n"), rest.join("\n"));
    let module = wat::parse_str(&module).unwrap_or_else(|error| panic!("{name}: {error}"));
    let interfaces: String = exports.iter().map(|name| format!("export rookery:plugin/{name}@0.1.0;\n")).collect();
    // The contract has no resources, so a guest that wants one has its own.
    let own = if text.contains("[export]shelf") { "export shelf: interface { resource thing; }" } else { "" };
    let component = componentise(module, &format!("include rookery:plugin/imports@0.1.0;\n{interfaces}{own}"));
    let exports = exports.iter().map(|name| Export::from_name(name).unwrap()).collect();
    (component.into(), exports)
}

fn componentise(mut module: Vec<u8>, world: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    resolve.push_dir(folder().join("../../plugin-sdk/wit/0.1")).unwrap();
    let package = resolve.push_str("guest.wit", &format!("package test:guest; world guest {{ {world} }}")).unwrap();
    let world = resolve.select_world(&[package], Some("guest")).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    ComponentEncoder::default().module(&module).unwrap().encode().unwrap()
}

/// The package of a guest, for a test to change before it is loaded.
pub(crate) fn package(name: &str) -> Package {
    let (wasm, exports) = component(name);
    Package {
        name: "guest".to_owned(),
        version: "1.2.3".to_owned(),
        wasm,
        exports,
        granted: BTreeSet::from([Import::Kv, Import::Sql]),
        limits: Limits::default(),
        environment: Environment {
            plugin: "guest".to_owned(),
            version: "1.2.3".to_owned(),
            host_version: "0.1.0".to_owned(),
            api_version: "0.1".to_owned(),
            instance_domain: "rookery.example".to_owned(),
            generation: 1,
            config: "{}".to_owned(),
            test: true,
        },
    }
}

pub(crate) fn options() -> EngineOptions {
    EngineOptions { cache: None, key: [7; 32], quick: true, instances: 32, memory: MEMORY, compiler: None }
}

/// The engine that most tests share.
pub(crate) fn engine() -> Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new(options()).unwrap()).clone()
}

/// Loads a guest under the default limits.
pub(crate) async fn load(name: &str) -> Result<Plugin, LoadError> {
    load_with(name, |_| {}).await
}

/// Loads a guest under limits that the test changes.
pub(crate) async fn load_with(name: &str, change: impl FnOnce(&mut Limits)) -> Result<Plugin, LoadError> {
    let mut package = package(name);
    change(&mut package.limits);
    engine().load(package, Quiet::new()).await
}

/// A fake host that offers only a few functions, and counts calls.
#[derive(Default)]
pub(crate) struct Quiet {
    pub(crate) lines: AtomicU64,
    /// The member `who` of the configuration.
    pub(crate) who: Mutex<String>,
    pub(crate) version: AtomicU64,
    /// How long `kv.get` takes; [`PANIC`] makes it panic.
    pub(crate) delay: Mutex<Duration>,
    /// What `kv.get` returns for each call.
    pub(crate) value: Mutex<Vec<u8>>,
    /// Calls of `kv.get` that were cancelled.
    pub(crate) given_up: Arc<AtomicU64>,
    /// The allowed sizes of the results of `kv.get`.
    pub(crate) allowed: Mutex<Vec<usize>>,
    last_allowed: AtomicUsize,
}

/// The delay that simulates a bug in the server.
pub(crate) const PANIC: Duration = Duration::from_secs(24 * 60 * 60);

/// Counts drops: a future that is cancelled drops it, one that completes forgets it.
struct Count(Arc<AtomicU64>);

impl Drop for Count {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Quiet {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    pub(crate) fn with_name(who: &str) -> Arc<Self> {
        Arc::new(Self { who: Mutex::new(who.to_owned()), ..Self::default() })
    }

    pub(crate) fn slow(delay: Duration) -> Arc<Self> {
        Arc::new(Self { delay: Mutex::new(delay), ..Self::default() })
    }
}

#[async_trait]
impl Host for Quiet {
    fn allow(&self, bytes: usize) {
        self.last_allowed.store(bytes, Ordering::SeqCst);
    }

    fn emit(&self, _level: log::Level, _message: &str, _fields: &[(String, String)]) {
        self.lines.fetch_add(1, Ordering::SeqCst);
    }

    fn now(&self) -> i64 {
        1_000
    }

    fn random(&self, length: usize) -> Vec<u8> {
        vec![4; length]
    }

    fn config_get(&self, key: &str) -> Option<String> {
        assert_eq!(key, "who");
        Some(format!("{:?}", self.who.lock().unwrap()))
    }

    fn config_version(&self) -> u64 {
        self.version.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Kv for Quiet {
    async fn get(&self, _keys: Vec<String>) -> Result<Vec<Option<Vec<u8>>>, Failure> {
        self.allowed.lock().unwrap().push(self.last_allowed.load(Ordering::SeqCst));
        let delay = *self.delay.lock().unwrap();
        assert_ne!(delay, PANIC, "a bug in the server");
        let count = Count(Arc::clone(&self.given_up));
        tokio::time::sleep(delay).await;
        std::mem::forget(count);
        Ok(vec![Some(self.value.lock().unwrap().clone())])
    }
}

impl Core for Quiet {}
impl CoreWrite for Quiet {}
impl Feeds for Quiet {}
impl Queue for Quiet {}
impl Settings for Quiet {}
impl Sql for Quiet {}
impl Streaming for Quiet {}

/// A request for the route with that id.
pub(crate) fn request(route: &str) -> routes::Request {
    let caller = Caller {
        account: Some(1),
        token: None,
        scopes: vec!["read".to_owned()],
        role: 1,
        locale: "en".to_owned(),
        app: None,
    };
    routes::Request {
        ctx: CallContext { request_id: "r1".to_owned(), caller, budget_ms: 5000 },
        route: route.to_owned(),
        method: "GET".to_owned(),
        path: format!("/api/v1/{route}"),
        params: Vec::new(),
        query: vec![("limit".to_owned(), "40".to_owned())],
        headers: Vec::new(),
        body: routes::Body::None,
        page: None,
    }
}

/// Calls the guest's route.
pub(crate) async fn get(plugin: &Plugin) -> Result<routes::Response, CallError> {
    plugin.route(Quiet::new(), request("index")).await
}

/// Calls the guest's hook for an account.
pub(crate) async fn decorate(plugin: &Plugin, viewer: i64) -> Result<Vec<decorate::Extra>, CallError> {
    decorate_by(plugin, Quiet::new(), viewer).await
}

/// [`decorate`] with a host of the test's own.
pub(crate) async fn decorate_by(
    plugin: &Plugin,
    host: Arc<Quiet>,
    viewer: i64,
) -> Result<Vec<decorate::Extra>, CallError> {
    plugin.decorate(host, Some(viewer), "status", Vec::new()).await
}

/// Limits with pooled routes and a single instance.
pub(crate) fn one_pooled(limits: &mut Limits) {
    limits.instances = 1;
    limits.route_policy = InstancePolicy::Pooled;
}

/// Resident memory of this process, bytes.
pub(crate) fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4096
}
