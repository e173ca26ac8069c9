//! The engine and the plugins loaded into it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::bindings::exports::{
    activity_filter, activity_handler, channels, decorate, events, fanout, jobs, lifecycle, notification_filter,
    routes, status_filter,
};
use crate::bindings::imports::feeds::Entry;
use crate::bindings::imports::types::{CallContext, Failure, Status};
use crate::fault::{CallError, Fault};
use crate::host::Host;
use crate::limits::Limits;

/// An interface that a plugin may import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "named as in the contract")]
pub enum Import {
    Log,
    System,
    Config,
    Settings,
    Core,
    CoreWrite,
    Feeds,
    Streaming,
    Federation,
    Sql,
    SqlDynamic,
    Kv,
    Cache,
    HttpClient,
    Queue,
}

/// An interface that a plugin may export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "named as in the contract")]
pub enum Export {
    Lifecycle,
    Routes,
    StatusFilter,
    Events,
    NotificationFilter,
    ActivityFilter,
    ActivityHandler,
    Fanout,
    Decorate,
    Channels,
    Jobs,
    InstanceInfo,
    Admin,
}

/// What a component imports and exports, found without running it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "what the names say")]
pub struct Shape {
    pub imports: BTreeSet<Import>,
    pub exports: BTreeSet<Export>,
}

/// How the engine is set up.
#[derive(Clone)]
pub struct Options {
    /// Where compiled components are kept; none: nowhere.
    pub cache: Option<PathBuf>,
    /// Authenticates what is in the cache.
    pub key: [u8; 32],
    /// Compile quickly rather than well: for development.
    pub quick: bool,
    /// Instances of all plugins together.
    pub instances: u32,
    /// The largest memory that any plugin may be given, bytes.
    pub memory: usize,
}

/// What is to be loaded.
#[derive(Clone)]
#[expect(missing_docs, reason = "what the names say")]
pub struct Package {
    pub name: String,
    pub version: String,
    pub wasm: Arc<[u8]>,
    /// What the manifest declares.
    pub exports: BTreeSet<Export>,
    /// What the manifest asks for and the admin granted.
    pub granted: BTreeSet<Import>,
    pub limits: Limits,
    pub environment: lifecycle::Environment,
}

/// Compiles and runs components. Cheap to clone; the ticker thread ends with the last clone.
#[derive(Clone, Debug)]
pub struct Engine {}

impl Engine {
    /// An engine. Costs a thread; make none where there is no plugin.
    ///
    /// # Errors
    /// When the machine cannot give the address space, with what to change.
    pub fn new(_options: Options) -> Result<Self, Fault> {
        todo!()
    }

    /// What `wasm` imports and exports, without compiling it.
    ///
    /// # Errors
    /// At [`Stage::Validate`](crate::Stage) for what is no component, at `Contract` for one of another contract.
    pub fn shape(_plugin: &str, _wasm: &[u8]) -> Result<Shape, Fault> {
        todo!()
    }

    /// Checks, compiles (or takes from the cache) and links `package`, and makes one instance of it to see that it can
    /// be made and that `init` agrees. Blocks for as long as compiling takes: call it off the runtime's threads.
    ///
    /// # Errors
    /// The stage and one sentence.
    pub async fn load(&self, _package: Package, _host: Arc<dyn Host>) -> Result<Plugin, Fault> {
        todo!()
    }
}

/// A plugin that is loaded: one generation of it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Plugin {}

/// One method for each export: takes a [`Host`] for this call alone, and what the contract says.
#[expect(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "documented by the contract; errors are those of CallError"
)]
impl Plugin {
    pub async fn self_test(&self, _host: Arc<dyn Host>) -> Result<(), CallError> {
        todo!()
    }
    pub async fn route(&self, _host: Arc<dyn Host>, _request: routes::Request) -> Result<routes::Response, CallError> {
        todo!()
    }
    pub async fn status_filter(
        &self,
        _host: Arc<dyn Host>,
        _context: CallContext,
        _draft: status_filter::Draft,
    ) -> Result<status_filter::Verdict, CallError> {
        todo!()
    }
    pub async fn events(&self, _host: Arc<dyn Host>, _batch: Vec<events::Event>) -> Result<(), CallError> {
        todo!()
    }
    pub async fn notification_filter(
        &self,
        _host: Arc<dyn Host>,
        _batch: Vec<notification_filter::Draft>,
    ) -> Result<Vec<u8>, CallError> {
        todo!()
    }
    pub async fn activities_inbound(
        &self,
        _host: Arc<dyn Host>,
        _batch: Vec<activity_filter::Envelope>,
    ) -> Result<Vec<activity_filter::Verdict>, CallError> {
        todo!()
    }
    pub async fn activities_outbound(
        &self,
        _host: Arc<dyn Host>,
        _batch: Vec<activity_filter::Envelope>,
    ) -> Result<Vec<activity_filter::Verdict>, CallError> {
        todo!()
    }
    pub async fn activities_handle(
        &self,
        _host: Arc<dyn Host>,
        _batch: Vec<activity_handler::Incoming>,
    ) -> Result<Vec<Result<(), Failure>>, CallError> {
        todo!()
    }
    pub async fn fanout(&self, _host: Arc<dyn Host>, _batch: Vec<Status>) -> Result<Vec<Entry>, CallError> {
        todo!()
    }
    pub async fn decorate(
        &self,
        _host: Arc<dyn Host>,
        _viewer: Option<i64>,
        _kind: &str,
        _targets: Vec<decorate::Target>,
    ) -> Result<Vec<decorate::Extra>, CallError> {
        todo!()
    }
    pub async fn channel(
        &self,
        _host: Arc<dyn Host>,
        _context: CallContext,
        _channel: &str,
        _params: Vec<(String, String)>,
    ) -> Result<Vec<String>, CallError> {
        todo!()
    }
    pub async fn job(&self, _host: Arc<dyn Host>, _task: jobs::Task) -> Result<jobs::Outcome, CallError> {
        todo!()
    }
    pub async fn instance_info(
        &self,
        _host: Arc<dyn Host>,
        _document: &str,
    ) -> Result<Vec<(String, String)>, CallError> {
        todo!()
    }
    pub async fn command(
        &self,
        _host: Arc<dyn Host>,
        _context: CallContext,
        _name: &str,
        _args: String,
    ) -> Result<String, CallError> {
        todo!()
    }

    /// What it imports and exports.
    pub fn shape(&self) -> &Shape {
        todo!()
    }

    /// No new calls; those that run after `grace` are cut off.
    pub async fn drain(&self, _grace: std::time::Duration) {
        todo!()
    }
}
