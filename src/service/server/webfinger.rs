//! WebFinger (RFC 7033): resolves an address to a local account or the server itself.
//!
//! Spec: docs/contract/federation.md#1-discovery-documents.

use crate::instance;
use context::Cx;
use context::error::{Error, Result};
use model::Account;

/// The user name of the server's own actor (docs/contract/federation.md#2-uris).
pub const SERVER_NAME: &str = "mastodon.internal";

/// The subject of a WebFinger query.
#[derive(Debug)]
pub enum Subject {
    /// A local account.
    Account(Box<Account>),
    /// The server's own actor, which signs requests that are not made on behalf of an account.
    Server,
}

/// Resolves `resource`: an address with or without `acct:`, the URL of a profile or actor, or this server's domain.
///
/// # Errors
/// [`Error::BadRequest`] when it is malformed, [`Error::NotFound`] when the account does not exist, [`Error::Gone`]
/// when it was removed.
#[model::use_case]
pub async fn find(cx: &Cx, resource: &str) -> Result<Subject> {
    let resource = resource.trim();
    let name = match resource.strip_prefix("https://").or_else(|| resource.strip_prefix("http://")) {
        Some(address) => from_url(cx, address)?,
        None => from_address(cx, resource.strip_prefix("acct:").unwrap_or(resource))?,
    };
    match name {
        None | Some(SERVER_NAME) => Ok(Subject::Server),
        Some(name) => Ok(Subject::Account(Box::new(instance::local_account(cx, name).await?))),
    }
}

/// The user name in `domain/@name` or `domain/users/name`; `None` for the server itself.
fn from_url<'a>(cx: &Cx, address: &'a str) -> Result<Option<&'a str>> {
    let (domain, path) = address.split_once('/').unwrap_or((address, ""));
    if domain.is_empty() {
        return Err(unusable());
    }
    if !cx.config.is_local_domain(domain) {
        return Err(Error::NotFound);
    }
    let path = path.trim_end_matches('/');
    if matches!(path, "" | "actor") {
        return Ok(None);
    }
    let name = path.strip_prefix('@').or_else(|| path.strip_prefix("users/"));
    name.filter(|name| is_name(name)).map(Some).ok_or(Error::NotFound)
}

/// The user name in `name@domain`; `None` for the server itself: its domain alone, or as both parts.
fn from_address<'a>(cx: &Cx, address: &'a str) -> Result<Option<&'a str>> {
    let address = address.strip_prefix('@').filter(|rest| rest.contains('@')).unwrap_or(address);
    let (name, domain) = match address.rsplit_once('@') {
        Some((name, domain)) => (Some(name), domain),
        None => (None, address),
    };
    let plausible = !domain.is_empty() && !domain.contains(['/', ' ', '?', '#']);
    if !plausible || name.is_some_and(str::is_empty) || (name.is_none() && !domain.contains(['.', ':'])) {
        return Err(unusable());
    }
    if !cx.config.is_local_domain(domain) {
        return Err(Error::NotFound);
    }
    match name {
        Some(name) if cx.config.is_local_domain(name) => Ok(None),
        Some(name) if name != SERVER_NAME && !is_name(name) => Err(Error::NotFound),
        name => Ok(name),
    }
}

fn is_name(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && !name.is_empty()
}

fn unusable() -> Error {
    Error::bad_request("resource is not an address")
}
