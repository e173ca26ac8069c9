//! The server's side of one call: the functions of [`functions`](crate::serve::functions), by interface, and the
//! functions that cannot fail.
//!
//! Implemented by `src/plugins/call`, and by the tests; called from `serve`. A method that an implementation leaves out
//! answers with a failure of status 501.

use std::sync::Arc;

use async_trait::async_trait;

use crate::bindings::imports::types::Failure;
use crate::bindings::imports::{http_client, log};
use crate::serve::functions::unavailable;
pub use crate::serve::functions::{Core, CoreWrite, Feeds, Kv, Queue, Settings, Sql, Streaming};

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
pub trait Host: Core + CoreWrite + Feeds + Settings + Sql + Kv + Queue + Streaming + 'static {
    /// Called before each other function, with the largest size of its result ([`ByteSize`](crate::ByteSize)): the rest
    /// of [`Limits::bytes_in`](crate::Limits). An implementation stops there, before it builds a larger result; the
    /// sandbox measures every result anyway.
    fn allow(&self, bytes: usize) {}

    /// The account on whose behalf the guest is called, 0 for people without one; `None` for the server itself. Failures for
    /// one person alone open no circuit breaker.
    fn person(&self) -> Option<i64> {
        None
    }

    /// Called before the guest receives a failure of a host function, which it may change: to log an internal cause.
    fn failed(&self, function: &'static str, failure: &mut Failure) {}

    /// Checks a permission within the interface of the function that is called.
    ///
    /// # Errors
    /// The failure that the guest receives without it.
    fn permit(&self, permission: &'static str) -> Result<(), Failure> {
        Ok(())
    }

    /// Ends when the call's transaction has had its time.
    async fn late(&self) {
        std::future::pending::<()>().await;
    }

    /// True for a failure that says the same.
    fn is_late(&self, failure: &Failure) -> bool {
        false
    }

    /// Ends the transaction whose time is over; returns the failure for the guest.
    async fn end_late(&self) -> Failure {
        unavailable("a transaction")
    }

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
}
