//! WebFinger (RFC 7033): resolves an address to a local account or the server itself, and the address of a visitor to the
//! page on which their own server lets them act on what they see here.
//!
//! Spec: docs/contract/federation.md#1-discovery-documents.

use crate::access::owner;
use crate::{domain, public};
use context::Cx;
use context::error::{Error, Result, Validation};
use model::Account;
use model::urls::Owner;

/// The user name of the server's own actor (docs/contract/federation.md#2-uris).
pub const SERVER_NAME: &str = "mastodon.internal";

/// Longest user name of a visitor.
const NAME_MAX: usize = 255;

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
    let named = match resource.strip_prefix("https://").or_else(|| resource.strip_prefix("http://")) {
        Some(address) => from_url(cx, address)?,
        None => {
            let name = from_address(cx, resource.strip_prefix("acct:").unwrap_or(resource))?;
            name.map(|name| Owner::Page(name.to_owned()))
        }
    };
    match named {
        None => Ok(Subject::Server),
        Some(Owner::Page(name)) if name == SERVER_NAME => Ok(Subject::Server),
        Some(named) => Ok(Subject::Account(Box::new(owner::known(cx, &named).await?))),
    }
}

/// The page on which `visitor` acts on the account or status `uri` of this server: their own server names it. `visitor`
/// is `user@domain`, with or without an `@` before it, or the domain alone.
///
/// # Errors
/// [`Error::NotFound`] unless `uri` is a local account, or a local status that everyone may read; [`Error::Validation`]
/// of `address` for a visitor without a usable address, and when no page can be found out.
#[model::use_case]
pub async fn interaction_page(cx: &Cx, visitor: &str, uri: &str) -> Result<String> {
    let uri = public::interactive(cx, uri).await?;
    let mut faults = Validation::default();
    let page = match visitor_name(visitor) {
        None => {
            faults.add("address", "ERR_INVALID", "is not an address such as name@example.org");
            None
        }
        Some((_, domain)) if cx.config.is_local_domain(&domain) => Some(own_page(cx, &uri)),
        Some((name, domain)) => {
            let visitor = name.map_or_else(|| domain.clone(), |name| format!("{name}@{domain}"));
            let page = cx.federation.interaction_page(cx, &visitor, &uri).await?;
            if page.is_none() {
                faults.add(
                    "address",
                    "ERR_UNREACHABLE",
                    "is of a server that cannot be asked, or has no page for this",
                );
            }
            page
        }
    };
    faults.check()?;
    page.ok_or(Error::NotFound)
}

/// The page on which people of this server act on `uri`.
fn own_page(cx: &Cx, uri: &str) -> String {
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("uri", uri).finish();
    cx.urls.path(&format!("/authorize_interaction?{query}"))
}

/// The user name, if any, and the domain of an address that a visitor wrote.
fn visitor_name(address: &str) -> Option<(Option<&str>, String)> {
    let address = address.trim();
    let address = address.strip_prefix("acct:").unwrap_or(address);
    let address = address.strip_prefix('@').unwrap_or(address);
    match address.rsplit_once('@') {
        Some((name, host)) => {
            let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
            let is_name = (1..=NAME_MAX).contains(&name.len()) && name.chars().all(fits);
            if is_name { Some((Some(name), domain::parse(host)?)) } else { None }
        }
        None => Some((None, domain::parse(address).filter(|domain| domain.contains(['.', ':']))?)),
    }
}

/// The account in `domain/@name`, `domain/users/name` or `domain/ap/users/id`; `None` for the server itself.
fn from_url(cx: &Cx, address: &str) -> Result<Option<Owner>> {
    let (domain, path) = address.split_at(address.find('/').unwrap_or(address.len()));
    if domain.is_empty() {
        return Err(unusable());
    }
    if !cx.config.is_local_domain(domain) {
        return Err(Error::NotFound);
    }
    let path = path.trim_end_matches('/');
    if matches!(path, "" | "/actor") {
        return Ok(None);
    }
    match Owner::of_path(path) {
        Some((owner, "")) => Ok(Some(owner)),
        Some(_) | None => Err(Error::NotFound),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_of_visitor_is_read_as_people_write_it() {
        for address in ["bob@Example.org", " @bob@example.org ", "acct:bob@example.org"] {
            assert_eq!(visitor_name(address), Some((Some("bob"), "example.org".to_owned())), "{address}");
        }
        assert_eq!(visitor_name("example.org:3000"), Some((None, "example.org:3000".to_owned())));
        for address in
            ["", "@", "bob", "bob@", "@example.org@", "b b@example.org", "bob@exa mple", "https://a.test/", "a/b"]
        {
            assert_eq!(visitor_name(address), None, "{address}");
        }
    }
}
