//! Linkers: one for each set of granted interfaces, in which an interface that was not granted does not exist.
//!
//! Reached from [`Engine::load`](crate::Engine::load). Capabilities are enforced here, by linking, and not checked in
//! each host function. WASI is never linked.
//!
//! Spec: docs/plugins.md#22-loading, step 6.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use wasmtime::component::{HasSelf, Linker};
use wasmtime::{Engine, Result};

use crate::bindings::generated::rookery::plugin as contract;
use crate::contract::Import;
use crate::state::State;

/// The linkers created so far, by their interfaces.
#[derive(Default)]
pub(crate) struct Linkers(Mutex<HashMap<BTreeSet<Import>, Arc<Linker<State>>>>);

impl Linkers {
    /// The linker with the interfaces in `granted` and the interfaces of every plugin.
    pub(crate) fn get(&self, engine: &Engine, granted: &BTreeSet<Import>) -> Result<Arc<Linker<State>>> {
        let set: BTreeSet<Import> =
            Import::ALL.into_iter().filter(|import| import.always() || granted.contains(import)).collect();
        let mut linkers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(linker) = linkers.get(&set) {
            return Ok(Arc::clone(linker));
        }
        let mut linker = Linker::new(engine);
        for import in &set {
            add(&mut linker, *import)?;
        }
        let linker = Arc::new(linker);
        linkers.insert(set, Arc::clone(&linker));
        Ok(linker)
    }
}

/// Adds the functions of one interface.
fn add(linker: &mut Linker<State>, import: Import) -> Result<()> {
    type Own = HasSelf<State>;
    match import {
        Import::Log => contract::log::add_to_linker::<_, Own>(linker, |state| state),
        Import::System => contract::system::add_to_linker::<_, Own>(linker, |state| state),
        Import::Config => contract::config::add_to_linker::<_, Own>(linker, |state| state),
        Import::Sealing => contract::sealing::add_to_linker::<_, Own>(linker, |state| state),
        Import::Settings => contract::settings::add_to_linker::<_, Own>(linker, |state| state),
        Import::Core => contract::core::add_to_linker::<_, Own>(linker, |state| state),
        Import::CoreWrite => contract::core_write::add_to_linker::<_, Own>(linker, |state| state),
        Import::Feeds => contract::feeds::add_to_linker::<_, Own>(linker, |state| state),
        Import::Streaming => contract::streaming::add_to_linker::<_, Own>(linker, |state| state),
        // Refused by `shape` when a plugin is loaded: this server offers no federation to plugins yet.
        Import::Federation => Ok(()),
        Import::Sql => contract::sql::add_to_linker::<_, Own>(linker, |state| state),
        Import::Kv => contract::kv::add_to_linker::<_, Own>(linker, |state| state),
        Import::Cache => contract::cache::add_to_linker::<_, Own>(linker, |state| state),
        Import::HttpClient => contract::http_client::add_to_linker::<_, Own>(linker, |state| state),
        Import::Queue => contract::queue::add_to_linker::<_, Own>(linker, |state| state),
    }
}
