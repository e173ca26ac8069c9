//! One instance of a plugin: its wasmtime store and its exported functions.
//!
//! Reached from `call`, which instantiates, enters and discards instances, and from `pool`, which keeps warm ones. The
//! module applies the limits of a store; it neither runs calls nor decides when an instance is used again.
//!
//! Spec: docs/plugins.md#26-limits.

use std::sync::Arc;
use std::time::{Duration, Instant};

use wasmtime::component::{Instance, InstancePre};
use wasmtime::{Result, Store};

use crate::bindings::exports::lifecycle::Environment;
use crate::bindings::generated::exports::rookery::plugin as exported;
use crate::clock::{SLICE_TICKS, Ticker};
use crate::host::Host;
use crate::limits::Limits;
use crate::pool::Pools;
use crate::state::{Scope, State, Used};

/// The number of open resource handles. The contract has no resources; parts that a language's tools compose into a
/// component, such as stubs for WASI, may have some.
pub(crate) const HANDLES: usize = 64;

/// For each interface that may be exported: the indices of its functions in a component, and the functions themselves
/// in an instance.
macro_rules! interfaces {
    ($($name:ident),* $(,)?) => {
        /// Indices of the exported functions in a component.
        #[derive(Default)]
        pub(crate) struct Indices {
            $($name: Option<exported::$name::GuestIndices>,)*
        }

        /// The functions of an instance, looked up on the first call.
        #[derive(Default)]
        struct Functions {
            $($name: Option<exported::$name::Guest>,)*
        }

        impl Indices {
            /// Looks all of them up by name.
            pub(crate) fn new(pre: &InstancePre<State>) -> Self {
                Self { $($name: exported::$name::GuestIndices::new(pre).ok(),)* }
            }
        }

        impl Live {
            $(
                /// The functions of this interface; an error when the plugin does not export it.
                pub(crate) fn $name(&mut self) -> Result<exported::$name::Guest> {
                    if let Some(guest) = &self.functions.$name {
                        return Ok(guest.clone());
                    }
                    let indices = self.template.indices.$name.as_ref();
                    let indices = indices.ok_or_else(|| not_exported(stringify!($name)))?;
                    let guest = indices.load(&mut self.store, &self.instance)?;
                    Ok(self.functions.$name.insert(guest).clone())
                }
            )*

            /// Looks up every exported function, which checks its type against the contract.
            pub(crate) fn check(&mut self) -> Result<()> {
                $(if self.template.indices.$name.is_some() {
                    self.$name()?;
                })*
                Ok(())
            }
        }
    };
}

interfaces!(
    lifecycle,
    routes,
    status_filter,
    sign_up,
    events,
    notification_filter,
    activity_filter,
    activity_handler,
    fanout,
    decorate,
    channels,
    jobs,
    pages,
    instance_info,
    admin,
);

fn not_exported(interface: &str) -> wasmtime::Error {
    wasmtime::format_err!("the plugin does not export {}", interface.replace('_', "-"))
}

/// Everything that instances of one generation are created from.
pub(crate) struct Template {
    pub(crate) pre: InstancePre<State>,
    pub(crate) indices: Indices,
    pub(crate) limits: Arc<Limits>,
    pub(crate) environment: Environment,
    pub(crate) ticker: Arc<Ticker>,
    /// The pools of all plugins, whose warm instances are dropped when there is no free slot.
    pub(crate) crowd: Arc<Pools>,
}

/// A running instance, with the age and the number of calls that decide when it is recycled.
pub(crate) struct Live {
    pub(crate) store: Store<State>,
    instance: Instance,
    functions: Functions,
    template: Arc<Template>,
    pub(crate) born: Instant,
    pub(crate) calls: u32,
}

/// A new store under all limits: resource limiter, host-call fuel, handle cap and epoch deadline callback.
pub(crate) fn store(template: &Template) -> Store<State> {
    let limits = Arc::clone(&template.limits);
    let bytes_out = limits.bytes_out;
    let mut store = Store::new(template.pre.engine(), State::new(limits));
    store.limiter(|state| state);
    store.set_hostcall_fuel(bytes_out);
    store.set_max_component_handles(HANDLES);
    store.epoch_deadline_callback(|mut context| context.data_mut().slice());
    store
}

/// Begins a call in `store`: replaces the scope and the CPU clock, so that nothing of an earlier call is left.
pub(crate) fn enter(store: &mut Store<State>, host: Arc<dyn Host>, cpu: Duration, bytes: usize) {
    store.set_epoch_deadline(SLICE_TICKS);
    let state = store.data_mut();
    state.scope = Some(Scope {
        host,
        began: Instant::now(),
        cpu,
        used: Used { bytes_in: bytes, ..Used::default() },
        tripped: None,
        last_words: None,
    });
    state.clock.restart();
}

impl Live {
    /// Instantiates into `store`, which must have been entered. On failure the store stays with the caller.
    pub(crate) async fn start(template: Arc<Template>, store: &mut Option<Store<State>>) -> Result<Self> {
        let slot = store.as_mut().ok_or_else(|| wasmtime::format_err!("no store"))?;
        let instance = template.pre.instantiate_async(&mut *slot).await?;
        let store = store.take().ok_or_else(|| wasmtime::format_err!("no store"))?;
        let functions = Functions::default();
        Ok(Self { store, instance, functions, template, born: Instant::now(), calls: 0 })
    }

    /// Calls the guest's `lifecycle.init`, if it exports one. The inner error is the guest's refusal.
    pub(crate) async fn init(&mut self) -> Result<std::result::Result<(), String>> {
        if self.template.indices.lifecycle.is_none() {
            return Ok(Ok(()));
        }
        let guest = self.lifecycle()?;
        let template = Arc::clone(&self.template);
        guest.call_init(&mut self.store, &template.environment).await
    }

    /// Whether it must be recycled: by calls, age, or memory over three quarters of the limit.
    pub(crate) fn worn(&self) -> bool {
        let (state, limits) = (self.store.data(), &self.template.limits);
        self.calls >= limits.recycle_calls
            || self.born.elapsed() >= limits.recycle_age
            || state.memory > limits.memory / 4 * 3
    }
}
