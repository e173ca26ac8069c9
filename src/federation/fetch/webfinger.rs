//! WebFinger (RFC 7033): which actor an address belongs to.

use context::Cx;

use super::document::plain;
use crate::Failure;
use crate::reading::is_username;
use crate::vocabulary::{Jrd, parse_plain};

/// The answer for an address, after at most one redirect of its subject.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) username: String,
    /// In lower case.
    pub(crate) domain: String,
    /// The id of the actor.
    pub(crate) actor: String,
}

/// Asks `domain` about `username`. A subject on another domain is asked about once more there.
///
/// # Errors
/// [`Failure`], with [`Failure::Disbelieved`] when the subjects do not agree.
pub(super) async fn find(cx: &Cx, username: &str, domain: &str) -> Result<Found, Failure> {
    let first = ask(cx, username, domain).await?;
    if first.domain == domain.to_lowercase() && first.username.eq_ignore_ascii_case(username) {
        return Ok(first);
    }
    let second = ask(cx, &first.username, &first.domain).await?;
    let same = second.domain == first.domain && second.username.eq_ignore_ascii_case(&first.username);
    if same { Ok(second) } else { Err(Failure::Disbelieved("WebFinger redirects more than once")) }
}

async fn ask(cx: &Cx, username: &str, domain: &str) -> Result<Found, Failure> {
    let scheme = cx.config.server.scheme.as_str();
    let resource =
        url::form_urlencoded::byte_serialize(format!("acct:{username}@{domain}").as_bytes()).collect::<String>();
    let url = format!("{scheme}://{domain}/.well-known/webfinger?resource={resource}");
    let fetched = plain(cx, &url).await?;
    let jrd: Jrd = parse_plain(&fetched.body)?;
    let (username, domain) =
        address(&jrd.subject).ok_or(Failure::Disbelieved("the subject of WebFinger is not an address"))?;
    let actor = jrd.actor().ok_or(Failure::Disbelieved("WebFinger names no actor"))?;
    Ok(Found { username: username.to_owned(), domain: domain.to_lowercase(), actor: actor.to_owned() })
}

/// The user name and the domain of `acct:user@domain`.
fn address(subject: &str) -> Option<(&str, &str)> {
    let (username, domain) = subject.strip_prefix("acct:").unwrap_or(subject).split_once('@')?;
    let fits = is_username(username) && service::domain::parse(domain).is_some();
    fits.then_some((username, domain))
}
