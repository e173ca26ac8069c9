//! The private keys with which local accounts sign: encrypted in the database under the server's secret key, so that a copy of
//! the database lets nobody act as the people of this server.
//!
//! Reached from the jobs that make keys. What is sealed for one account cannot be opened for another.

use crate::Cx;
use crate::error::Result;
use crypto::Secret;
use model::AccountId;

/// The purpose under which signing keys are sealed.
const PURPOSE: &str = "signing-keys";

/// How a private key in clear begins (PEM).
const CLEAR: &str = "-----BEGIN";

/// Encrypts the private key of an account for storage.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal), which is a bug.
pub fn seal(cx: &Cx, account: AccountId, private_key: &Secret) -> Result<String> {
    Ok(cx.keys.seal(PURPOSE, &account.to_string(), private_key)?)
}

/// Decrypts a stored private key; `None` when it was sealed with another secret key than that of now.
#[must_use]
pub fn open(cx: &Cx, account: AccountId, stored: &str) -> Option<Secret> {
    cx.keys.open(PURPOSE, &account.to_string(), stored)
}

/// True when a stored private key is not sealed.
#[must_use]
pub fn is_clear(stored: &str) -> bool {
    stored.starts_with(CLEAR)
}
