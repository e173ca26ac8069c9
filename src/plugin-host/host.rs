//! The functions that the server offers to a plugin, for one call.
//!
//! Implemented by `src/plugins/call`, and by the tests; called from `serve`. A method that an implementation leaves out
//! answers with a failure of status 501.

use std::sync::Arc;

use async_trait::async_trait;

use crate::bindings::imports::types::{Account, Failure, Page, Relationship, Status, Viewer};
use crate::bindings::imports::{core, core_write, feeds, http_client, kv, log, queue, sql, streaming};

/// The failure of functions that an implementation does not offer.
fn unavailable(what: &str) -> Failure {
    Failure {
        status: 501,
        code: "host.unavailable".to_owned(),
        message: format!("{what} is not available here"),
        detail: None,
    }
}

/// The server, as one call of a plugin sees it.
///
/// The sandbox links only interfaces that were granted, charges the call's budgets and limits the bytes. Permissions
/// within an interface (`read-as-any`, the kind of a feed, a view) are for the implementation to check. Dropped when
/// the call ends; whatever was not committed by then is rolled back.
///
/// Each method is the contract's function of that name.
#[async_trait]
#[expect(missing_docs, reason = "documented by the contract")]
#[allow(unused_variables, reason = "the defaults refuse")]
pub trait Host: Send + Sync + 'static {
    /// Called before each other function, with the bytes that its answer may still have ([`ByteSize`](crate::ByteSize)):
    /// what is left of [`Limits::bytes_in`](crate::Limits). An implementation ends at it, before it builds a larger
    /// answer; the sandbox measures every answer anyway.
    fn allow(&self, bytes: usize) {}

    /// The account on whose behalf the guest is called, 0 for people without one; `None` for the server itself. Failures for
    /// one person alone open no circuit breaker.
    fn person(&self) -> Option<i64> {
        None
    }

    /// Called before the guest receives a failure of a host function, which it may change: to log an internal cause.
    fn failed(&self, function: &'static str, failure: &mut Failure) {}

    // log
    fn emit(&self, level: log::Level, message: &str, fields: &[(String, String)]) {}
    fn counter(&self, name: &str, labels: &[(String, String)], add: u64) {}
    fn observe(&self, name: &str, labels: &[(String, String)], value: f64) {}

    // system
    fn now(&self) -> i64;
    fn random(&self, length: usize) -> Vec<u8>;

    // config
    fn config_get(&self, key: &str) -> Option<String> {
        None
    }
    fn config_all(&self) -> String {
        "{}".to_owned()
    }
    fn config_secret(&self, name: &str) -> Option<String> {
        None
    }
    fn config_version(&self) -> u64 {
        0
    }

    // sealing
    fn seal(&self, purpose: &str, text: &str) -> Result<String, Failure> {
        Err(unavailable("sealing"))
    }
    fn open(&self, purpose: &str, token: &str) -> Option<String> {
        None
    }

    // settings
    async fn settings_get(&self, accounts: Vec<i64>) -> Result<Vec<String>, Failure> {
        Err(unavailable("settings"))
    }
    async fn settings_set(&self, account: i64, members: String) -> Result<(), Failure> {
        Err(unavailable("settings"))
    }

    // core
    async fn statuses(&self, viewer: Viewer, ids: Vec<i64>) -> Result<Vec<Option<Status>>, Failure> {
        Err(unavailable("core"))
    }
    async fn accounts(&self, ids: Vec<i64>) -> Result<Vec<Option<Account>>, Failure> {
        Err(unavailable("core"))
    }
    async fn accounts_by_acct(&self, accts: Vec<String>) -> Result<Vec<Option<Account>>, Failure> {
        Err(unavailable("core"))
    }
    async fn relationships(&self, of: i64, others: Vec<i64>) -> Result<Vec<Relationship>, Failure> {
        Err(unavailable("core"))
    }
    async fn visible(&self, viewer: Viewer, ids: Vec<i64>) -> Result<Vec<bool>, Failure> {
        Err(unavailable("core"))
    }
    async fn followers_among(&self, of: i64, among: Vec<i64>) -> Result<Vec<i64>, Failure> {
        Err(unavailable("core"))
    }
    async fn emojis(&self, names: Vec<String>) -> Result<Vec<Option<core::Emoji>>, Failure> {
        Err(unavailable("core"))
    }
    async fn normalise(&self, kind: String, texts: Vec<String>) -> Result<Vec<Option<String>>, Failure> {
        Err(unavailable("core"))
    }

    // core-write
    async fn create_statuses(&self, items: Vec<core_write::NewStatus>) -> Result<Vec<Result<i64, Failure>>, Failure> {
        Err(unavailable("core-write"))
    }
    async fn delete_statuses(&self, ids: Vec<i64>) -> Result<u32, Failure> {
        Err(unavailable("core-write"))
    }
    async fn bookmark(&self, account: i64, statuses: Vec<i64>) -> Result<Vec<bool>, Failure> {
        Err(unavailable("core-write"))
    }
    async fn notify(&self, items: Vec<core_write::NewNotification>) -> Result<u32, Failure> {
        Err(unavailable("core-write"))
    }
    async fn retract(&self, kind: String, activities: Vec<i64>) -> Result<u32, Failure> {
        Err(unavailable("core-write"))
    }
    async fn touch(&self, kind: String, ids: Vec<i64>) -> Result<(), Failure> {
        Err(unavailable("core-write"))
    }
    async fn remove_profile_images(&self, account: i64, images: Vec<String>) -> Result<u32, Failure> {
        Err(unavailable("core-write"))
    }

    async fn follow(&self, account: i64, targets: Vec<i64>) -> Result<Vec<bool>, Failure> {
        Err(unavailable("core-write"))
    }

    // feeds
    async fn feeds_insert(&self, entries: Vec<feeds::Entry>) -> Result<u32, Failure> {
        Err(unavailable("feeds"))
    }
    async fn feeds_remove(&self, feed: feeds::Feed, ids: Vec<i64>) -> Result<u32, Failure> {
        Err(unavailable("feeds"))
    }
    async fn feeds_remove_authors(&self, feeds: Vec<feeds::Feed>, authors: Vec<i64>) -> Result<u32, Failure> {
        Err(unavailable("feeds"))
    }
    async fn feeds_range(&self, feed: feeds::Feed, page: Page) -> Result<Vec<i64>, Failure> {
        Err(unavailable("feeds"))
    }
    async fn feeds_drop(&self, feeds: Vec<feeds::Feed>) -> Result<(), Failure> {
        Err(unavailable("feeds"))
    }

    // streaming
    async fn publish(&self, messages: Vec<streaming::Message>) -> Result<u32, Failure> {
        Err(unavailable("streaming"))
    }

    // sql
    async fn sql_query(&self, statement: String, params: Vec<sql::Value>) -> Result<sql::Rows, Failure> {
        Err(unavailable("sql"))
    }
    async fn sql_batch(&self, calls: Vec<sql::Call>) -> Result<Vec<sql::Rows>, Failure> {
        Err(unavailable("sql"))
    }
    async fn sql_many(&self, statement: String, width: u16, params: Vec<sql::Value>) -> Result<u64, Failure> {
        Err(unavailable("sql"))
    }

    // kv
    async fn kv_get(&self, keys: Vec<String>) -> Result<Vec<Option<Vec<u8>>>, Failure> {
        Err(unavailable("kv"))
    }
    async fn kv_set(&self, items: Vec<kv::Item>) -> Result<(), Failure> {
        Err(unavailable("kv"))
    }
    async fn kv_delete(&self, keys: Vec<String>) -> Result<u32, Failure> {
        Err(unavailable("kv"))
    }
    async fn kv_add(&self, key: String, delta: i64) -> Result<i64, Failure> {
        Err(unavailable("kv"))
    }
    async fn kv_scan(&self, prefix: String, after: Option<String>, limit: u16) -> Result<Vec<kv::Item>, Failure> {
        Err(unavailable("kv"))
    }

    // cache
    fn cache_get(&self, key: &str) -> Option<Arc<[u8]>> {
        None
    }
    fn cache_set(&self, key: String, value: Vec<u8>, ttl_ms: u32) {}
    fn cache_drop_prefix(&self, prefix: &str) {}

    // http-client
    async fn fetch(
        &self,
        requests: Vec<http_client::Request>,
    ) -> Vec<Result<http_client::Response, http_client::HttpError>> {
        requests.iter().map(|_| Err(http_client::HttpError::Denied("http is not available here".to_owned()))).collect()
    }

    // queue
    async fn enqueue(&self, jobs: Vec<queue::Job>) -> Result<u32, Failure> {
        Err(unavailable("queue"))
    }
    async fn cancel(&self, kind: String, unique: Vec<String>) -> Result<u32, Failure> {
        Err(unavailable("queue"))
    }
}
