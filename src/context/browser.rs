//! The user of the browser that sent a request.

use std::sync::Arc;

use model::Account;

/// The user of a browser, as far as a request asked.
#[derive(Clone, Debug, Default)]
pub enum BrowserUser {
    /// The request did not ask.
    #[default]
    Unknown,
    /// The browser has no session.
    Anonymous,
    /// The browser has a session of this account.
    SignedIn(Arc<Account>),
}
