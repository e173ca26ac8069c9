//! One instance of a plugin: its store, and the functions it exports.

use std::sync::Arc;
use std::time::{Duration, Instant};

use wasmtime::component::{Instance, InstancePre};
use wasmtime::{Result, Store};

use crate::bindings::exports::lifecycle::Environment;
use crate::bindings::generated::exports::rookery::plugin as exported;
use crate::clock::{SLICE, Ticker};
use crate::host::Host;
use crate::limits::Limits;
use crate::pool::Crowd;
use crate::state::{Scope, State, Used};

/// The functions of each interface that may be exported: where they are in the component, and in an instance.
macro_rules! interfaces {
    ($($name:ident),* $(,)?) => {
        /// Where the exported functions are in a component.
        #[derive(Default)]
        pub(crate) struct Indices {
            $($name: Option<exported::$name::GuestIndices>,)*
        }

        /// The functions of an instance, looked up when first called.
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
                /// The functions of this interface.
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

            /// Looks every exported function up and checks its type.
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
    events,
    notification_filter,
    activity_filter,
    activity_handler,
    fanout,
    decorate,
    channels,
    jobs,
    instance_info,
    admin,
);

fn not_exported(interface: &str) -> wasmtime::Error {
    wasmtime::format_err!("the plugin does not export {}", interface.replace('_', "-"))
}

/// What instances are made from.
pub(crate) struct Template {
    pub(crate) pre: InstancePre<State>,
    pub(crate) indices: Indices,
    pub(crate) limits: Arc<Limits>,
    pub(crate) environment: Environment,
    pub(crate) ticker: Arc<Ticker>,
    /// The warm instances of all plugins.
    pub(crate) crowd: Arc<Crowd>,
}

/// An instance.
pub(crate) struct Live {
    pub(crate) store: Store<State>,
    instance: Instance,
    functions: Functions,
    template: Arc<Template>,
    pub(crate) born: Instant,
    pub(crate) calls: u32,
}

/// A store under all limits, in which nothing runs yet.
pub(crate) fn store(template: &Template) -> Store<State> {
    let limits = Arc::clone(&template.limits);
    let (bytes_out, handles) = (limits.bytes_out, limits.handles);
    let mut store = Store::new(template.pre.engine(), State::new(limits));
    store.limiter(|state| state);
    store.set_hostcall_fuel(bytes_out);
    store.set_max_component_handles(handles);
    store.epoch_deadline_callback(|mut context| context.data_mut().slice());
    store
}

/// Makes what follows in `store` a call of its own: nothing of an earlier one is left.
pub(crate) fn enter(store: &mut Store<State>, host: Arc<dyn Host>, cpu: Duration, bytes: usize) {
    store.set_epoch_deadline(SLICE);
    let state = store.data_mut();
    state.scope = Some(Scope {
        host,
        began: Instant::now(),
        cpu,
        used: Used { bytes_in: bytes, ..Used::default() },
        tripped: None,
    });
    state.clock.restart();
}

impl Live {
    /// Instantiates into `store`, which has been entered.
    pub(crate) async fn start(template: Arc<Template>, store: &mut Option<Store<State>>) -> Result<Self> {
        let slot = store.as_mut().ok_or_else(|| wasmtime::format_err!("no store"))?;
        let instance = template.pre.instantiate_async(&mut *slot).await?;
        let store = store.take().ok_or_else(|| wasmtime::format_err!("no store"))?;
        let functions = Functions::default();
        Ok(Self { store, instance, functions, template, born: Instant::now(), calls: 0 })
    }

    /// Lets the guest begin. A text refuses.
    pub(crate) async fn init(&mut self) -> Result<std::result::Result<(), String>> {
        if self.template.indices.lifecycle.is_none() {
            return Ok(Ok(()));
        }
        let guest = self.lifecycle()?;
        let template = Arc::clone(&self.template);
        guest.call_init(&mut self.store, &template.environment).await
    }

    /// Whether it must not be used again.
    pub(crate) fn worn(&self) -> bool {
        let (state, limits) = (self.store.data(), &self.template.limits);
        self.calls >= limits.recycle_calls
            || self.born.elapsed() >= limits.recycle_age
            || state.memory > limits.memory / 4 * 3
            || !state.table.is_empty()
    }
}
