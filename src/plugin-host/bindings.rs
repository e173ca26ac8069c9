//! Types and glue made from the contract.

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
        with: { "rookery:plugin/sql.transaction": crate::host::Transaction },
    });
}

/// What plugins may call.
pub mod imports {
    pub use super::generated::rookery::plugin::{
        cache, config, core, core_write, federation, feeds, http_client, kv, log, queue, settings, sql, sql_dynamic,
        streaming, system, types,
    };
}

/// What plugins may answer to.
pub mod exports {
    pub use super::generated::exports::rookery::plugin::{
        activity_filter, activity_handler, admin, channels, decorate, events, fanout, instance_info, jobs, lifecycle,
        notification_filter, routes, status_filter,
    };
}
