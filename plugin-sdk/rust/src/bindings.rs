//! Bindings that wit-bindgen generates from the contract: types and imports once, and a separate world for each
//! interface that may be exported, so that a component exports only the interfaces that the plugin implements.

#![allow(
    missing_docs,
    unsafe_code,
    unsafe_op_in_unsafe_fn,
    unreachable_pub,
    dead_code,
    clippy::all,
    clippy::pedantic,
    clippy::allow_attributes_without_reason,
    reason = "generated from the contract, which has the words"
)]

wit_bindgen::generate!({
    path: "wit/0.1",
    world: "imports",
    generate_unused_types: true,
    additional_derives: [PartialEq],
    runtime_path: "::rookery_plugin::bindings::wit_bindgen::rt",
});

pub use self::rookery::plugin as host;
#[doc(hidden)]
pub use wit_bindgen;

/// Generates a world that exports one interface.
macro_rules! export {
    ($module:ident, $world:literal, $text:literal $(, $key:literal: $path:path)*) => {
        pub mod $module {
            ::wit_bindgen::generate!({
                inline: $text,
                path: "wit/0.1",
                world: $world,
                pub_export_macro: true,
                default_bindings_module: "::rookery_plugin::bindings",
                generate_unused_types: true,
                additional_derives: [PartialEq],
                runtime_path: "::rookery_plugin::bindings::wit_bindgen::rt",
                with: { $($key: $path),* },
            });
        }
    };
}

export!(
    lifecycle,
    "rookery:sdk/export-lifecycle",
    "package rookery:sdk; world export-lifecycle { export rookery:plugin/lifecycle@0.1.0; }",
    "rookery:plugin/types@0.1.0": ::rookery_plugin::bindings::host::types
);

export!(
    routes,
    "rookery:sdk/export-routes",
    "package rookery:sdk; world export-routes { export rookery:plugin/routes@0.1.0; }",
    "rookery:plugin/types@0.1.0": ::rookery_plugin::bindings::host::types
);

export!(
    status_filter,
    "rookery:sdk/export-status-filter",
    "package rookery:sdk; world export-status-filter { export rookery:plugin/status-filter@0.1.0; }",
    "rookery:plugin/types@0.1.0": ::rookery_plugin::bindings::host::types
);

export!(
    sign_up,
    "rookery:sdk/export-sign-up",
    "package rookery:sdk; world export-sign-up { export rookery:plugin/sign-up@0.1.0; }",
    "rookery:plugin/types@0.1.0": ::rookery_plugin::bindings::host::types
);

export!(
    events,
    "rookery:sdk/export-events",
    "package rookery:sdk; world export-events { export rookery:plugin/events@0.1.0; }",
    "rookery:plugin/types@0.1.0": ::rookery_plugin::bindings::host::types
);

export!(
    notification_filter,
    "rookery:sdk/export-notification-filter",
    "package rookery:sdk; world export-notification-filter { export rookery:plugin/notification-filter@0.1.0; }",
    "rookery:plugin/types@0.1.0": ::rookery_plugin::bindings::host::types
);

export!(
    activity_filter,
    "rookery:sdk/export-activity-filter",
    "package rookery:sdk; world export-activity-filter { export rookery:plugin/activity-filter@0.1.0; }",
    "rookery:plugin/types@0.1.0": ::rookery_plugin::bindings::host::types
);

export!(
    activity_handler,
    "rookery:sdk/export-activity-handler",
    "package rookery:sdk; world export-activity-handler { export rookery:plugin/activity-handler@0.1.0; }",
    "rookery:plugin/types@0.1.0": ::rookery_plugin::bindings::host::types
);

export!(
    fanout,
    "rookery:sdk/export-fanout",
    "package rookery:sdk; world export-fanout { export rookery:plugin/fanout@0.1.0; }",
    "rookery:plugin/types@0.1.0": ::rookery_plugin::bindings::host::types,
    "rookery:plugin/feeds@0.1.0": ::rookery_plugin::bindings::host::feeds
);

export!(
    decorate,
    "rookery:sdk/export-decorate",
    "package rookery:sdk; world export-decorate { export rookery:plugin/decorate@0.1.0; }",
    "rookery:plugin/types@0.1.0": ::rookery_plugin::bindings::host::types
);

export!(
    channels,
    "rookery:sdk/export-channels",
    "package rookery:sdk; world export-channels { export rookery:plugin/channels@0.1.0; }",
    "rookery:plugin/types@0.1.0": ::rookery_plugin::bindings::host::types
);

export!(
    jobs,
    "rookery:sdk/export-jobs",
    "package rookery:sdk; world export-jobs { export rookery:plugin/jobs@0.1.0; }",
    "rookery:plugin/types@0.1.0": ::rookery_plugin::bindings::host::types
);

export!(
    pages,
    "rookery:sdk/export-pages",
    "package rookery:sdk; world export-pages { export rookery:plugin/pages@0.1.0; }",
    "rookery:plugin/types@0.1.0": ::rookery_plugin::bindings::host::types
);

export!(
    instance_info,
    "rookery:sdk/export-instance-info",
    "package rookery:sdk; world export-instance-info { export rookery:plugin/instance-info@0.1.0; }",
    "rookery:plugin/types@0.1.0": ::rookery_plugin::bindings::host::types
);

export!(
    admin,
    "rookery:sdk/export-admin",
    "package rookery:sdk; world export-admin { export rookery:plugin/admin@0.1.0; }",
    "rookery:plugin/types@0.1.0": ::rookery_plugin::bindings::host::types
);
