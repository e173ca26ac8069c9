//! The host functions that work on the server's data, one row each: name, parameters, result, cost and permission. A row makes
//! the method that a host implements, which answers with a failure of status 501 by default, and the function that guests call,
//! which charges the call's budgets, checks the permission and forwards to it; without the charge it is a method of `dyn Host`.
//!
//! A new host function needs a line in the WIT, a row here, the work in `src/plugins/call`, and a function in the SDKs.
//! Functions that cannot fail (logs, time, configuration, cache) are in [`own`](super::own), with individual shapes.
//!
//! Spec: the costs in `plugin-sdk/wit/0.1/plugin.wit`.

use async_trait::async_trait;

use super::{Work, cost, in_time};
use crate::bindings::imports::types::{Account, Failure, Page, Relationship, Status, Viewer};
use crate::bindings::imports::{core, core_write, feeds, kv, queue, settings, sql, streaming};
use crate::byte_size::ByteSize;
use crate::host::Host;
use crate::state::State;

/// The failure of functions that a host does not offer.
pub(crate) fn unavailable(interface: &str) -> Failure {
    super::failure(501, "host.unavailable", format!("{interface} is not available here"))
}

/// Runs work that opens no transaction, in place of [`in_time`].
async fn plain<T>(_: &dyn Host, work: Work<'_, Result<T, Failure>>) -> Result<T, Failure> {
    work.await
}

/// Declares the functions of interfaces:
/// `interface "its-name", Trait, in_time or plain { function as interface_function "interface.function" (parameters) -> Ok, cost units, needs "permission"; }`.
macro_rules! host_functions {
    ($(
        $(#[$doc:meta])*
        $interface:ident $title:literal, $trait:ident, $run:ident {$(
            $function:ident as $served:ident $name:literal ($($argument:ident: $type:ty),*) -> $ok:ty,
                cost $cost:expr $(, needs $permission:literal)?;
        )+}
    )+) => {$(
        $(#[$doc])*
        ///
        /// Each method is the contract's function of that name.
        #[async_trait]
        #[expect(missing_docs, reason = "documented by the contract")]
        #[expect(unused_variables, reason = "the defaults refuse")]
        pub trait $trait: Send + Sync {$(
            async fn $function(&self, $($argument: $type),*) -> Result<$ok, Failure> {
                Err(unavailable($title))
            }
        )+}

        impl $interface::Host for State {$(
            async fn $function(&mut self, $($argument: $type),*) -> wasmtime::Result<Result<$ok, Failure>> {
                let (units, bytes) = ($cost, 0 $(+ $argument.heap_bytes())*);
                self.wait($name, units, bytes, move |host| Box::pin(host.$served($($argument),*))).await
            }
        )+}

        /// The functions as the guest calls them, but without the charge.
        #[expect(missing_docs, reason = "documented by the contract")]
        impl dyn Host {$(
            pub async fn $served(&self, $($argument: $type),*) -> Result<$ok, Failure> {
                $(self.permit($permission)?;)?
                $run(self, <dyn Host as $trait>::$function(self, $($argument),*)).await
            }
        )+}
    )+};
}

/// Units of one statement over many rows of parameters: 2, and 1 for each 100 rows.
fn many_units(width: u16, params: &[sql::Value]) -> u32 {
    let rows = params.len() / usize::from(width.max(1));
    cost(2, 1, rows / 100)
}

host_functions! {
    /// Reads the server's data.
    core "core", Core, plain {
        statuses as core_statuses "core.statuses" (viewer: Viewer, ids: Vec<i64>) -> Vec<Option<Status>>, cost 2;
        accounts as core_accounts "core.accounts" (ids: Vec<i64>) -> Vec<Option<Account>>, cost 2;
        accounts_by_acct as core_accounts_by_acct "core.accounts-by-acct" (accts: Vec<String>) -> Vec<Option<Account>>, cost 2;
        relationships as core_relationships "core.relationships" (of: i64, others: Vec<i64>) -> Vec<Relationship>, cost 2;
        visible as core_visible "core.visible" (viewer: Viewer, ids: Vec<i64>) -> Vec<bool>, cost 2;
        followers_among as core_followers_among "core.followers-among" (of: i64, among: Vec<i64>) -> Vec<i64>, cost 2;
        emojis as core_emojis "core.emojis" (names: Vec<String>) -> Vec<Option<core::Emoji>>, cost 2;
        normalise as core_normalise "core.normalise" (kind: String, texts: Vec<String>) -> Vec<Option<String>>, cost 1;
    }

    /// Changes the server's data.
    core_write "core-write", CoreWrite, in_time {
        create_statuses as core_write_create_statuses "core-write.create-statuses" (items: Vec<core_write::NewStatus>) -> Vec<Result<i64, Failure>>,
            cost cost(20, 20, items.len()), needs "create";
        delete_statuses as core_write_delete_statuses "core-write.delete-statuses" (ids: Vec<i64>) -> u32, cost cost(20, 20, ids.len()), needs "delete";
        bookmark as core_write_bookmark "core-write.bookmark" (account: i64, statuses: Vec<i64>) -> Vec<bool>, cost 5, needs "bookmark";
        notify as core_write_notify "core-write.notify" (items: Vec<core_write::NewNotification>) -> u32, cost 5, needs "notify";
        retract as core_write_retract "core-write.retract" (kind: String, activities: Vec<i64>) -> u32, cost 2, needs "notify";
        touch as core_write_touch "core-write.touch" (kind: String, ids: Vec<i64>) -> (), cost 2, needs "touch";
        remove_profile_images as core_write_remove_profile_images "core-write.remove-profile-images" (account: i64, images: Vec<String>) -> u32,
            cost 5, needs "profile";
        follow as core_write_follow "core-write.follow" (account: i64, targets: Vec<i64>) -> Vec<bool>,
            cost cost(5, 20, targets.len()), needs "follow";
    }

    /// Feeds: ordered sets of statuses.
    feeds "feeds", Feeds, in_time {
        insert as feeds_insert "feeds.insert" (entries: Vec<feeds::Entry>) -> u32, cost 5;
        remove as feeds_remove "feeds.remove" (feed: feeds::Feed, ids: Vec<i64>) -> u32, cost 2;
        remove_authors as feeds_remove_authors "feeds.remove-authors" (feeds: Vec<feeds::Feed>, authors: Vec<i64>) -> u32, cost 2;
        range as feeds_range "feeds.range" (feed: feeds::Feed, page: Page) -> Vec<i64>, cost 2;
        drop_feeds as feeds_drop_feeds "feeds.drop-feeds" (feeds: Vec<feeds::Feed>) -> (), cost 2;
    }

    /// What people set for the plugin.
    settings "settings", Settings, in_time {
        get as settings_get "settings.get" (accounts: Vec<i64>) -> Vec<String>, cost 2;
        set as settings_set "settings.set" (account: i64, members: String) -> (), cost 2;
    }

    /// The plugin's own tables, by named statements.
    sql "sql", Sql, in_time {
        query as sql_query "sql.query" (statement: String, params: Vec<sql::Value>) -> sql::Rows, cost 2;
        batch as sql_batch "sql.batch" (calls: Vec<sql::Call>) -> Vec<sql::Rows>, cost cost(0, 2, calls.len()).max(1);
        many as sql_many "sql.many" (statement: String, width: u16, params: Vec<sql::Value>) -> u64, cost many_units(width, &params);
    }

    /// Small values by key.
    kv "kv", Kv, in_time {
        get as kv_get "kv.get" (keys: Vec<String>) -> Vec<Option<Vec<u8>>>, cost 2;
        set as kv_set "kv.set" (items: Vec<kv::Item>) -> (), cost 2;
        delete as kv_delete "kv.delete" (keys: Vec<String>) -> u32, cost 2;
        add as kv_add "kv.add" (key: String, delta: i64) -> i64, cost 2;
        scan as kv_scan "kv.scan" (prefix: String, after: Option<String>, limit: u16) -> Vec<kv::Item>, cost 2;
    }

    /// The plugin's jobs.
    queue "queue", Queue, in_time {
        enqueue as queue_enqueue "queue.enqueue" (jobs: Vec<queue::Job>) -> u32, cost 2;
        cancel as queue_cancel "queue.cancel" (kind: String, unique: Vec<String>) -> u32, cost 2;
    }

    /// Messages to connected clients.
    streaming "streaming", Streaming, plain {
        publish as streaming_publish "streaming.publish" (messages: Vec<streaming::Message>) -> u32, cost 2;
    }
}
