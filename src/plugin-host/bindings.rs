//! Types and bindings that wasmtime's `bindgen!` generates from the contract, `plugin-sdk/wit/0.1`.

#[allow(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    unreachable_pub,
    reason = "generated from the contract, which has the words"
)]
pub(crate) mod generated {
    wasmtime::component::bindgen!({
        path: "../../plugin-sdk/wit/0.1",
        world: "full",
        imports: { default: async | trappable },
        exports: { default: async },
        additional_derives: [PartialEq],
    });
}

/// The interfaces that plugins may import: functions of the host.
pub mod imports {
    pub use super::generated::rookery::plugin::{
        cache, config, core, core_write, federation, feeds, http_client, kv, log, queue, sealing, settings, sql,
        streaming, system, types,
    };
}

/// The interfaces that plugins may export.
pub mod exports {
    pub use super::generated::exports::rookery::plugin::{
        activity_filter, activity_handler, admin, channels, decorate, events, fanout, instance_info, jobs, lifecycle,
        notification_filter, pages, routes, sign_up, status_filter,
    };
}
