//! Feeds of an account's public statuses: `/@alice.atom` (RFC 4287) and `/@alice.rss` (RSS 2.0).
//!
//! Reached through [`profile::show`](super::profile::show), which recognises the suffix.

use axum::http::{HeaderName, header};
use axum::response::Response;
use minijinja::context;

use super::profile::{feed_url, gone};
use super::{Page, Visitor};
use crate::Cx;
use crate::error::Result;
use entity::web;
use model::{Account, Cursor};
use service::public;

/// The format of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// RFC 4287.
    Atom,
    /// RSS 2.0.
    Rss,
}

impl Format {
    /// Splits `alice.atom` or `alice.rss` into user name and format.
    pub(super) fn split(name: &str) -> Option<(&str, Self)> {
        let found = [Self::Atom, Self::Rss].into_iter();
        found.filter_map(|format| Some((name.strip_suffix(format.extension())?.strip_suffix('.')?, format))).next()
    }

    const fn extension(self) -> &'static str {
        match self {
            Self::Atom => "atom",
            Self::Rss => "rss",
        }
    }

    const fn template(self) -> &'static str {
        match self {
            Self::Atom => "atom.xml",
            Self::Rss => "rss.xml",
        }
    }

    const fn content_type(self) -> &'static str {
        match self {
            Self::Atom => "application/atom+xml; charset=utf-8",
            Self::Rss => "application/rss+xml; charset=utf-8",
        }
    }
}

/// The feed of the local account `name`, from `cursor` on.
pub(super) async fn show(cx: &Cx, visitor: &Visitor, name: &str, format: Format, cursor: &Cursor) -> Result<Response> {
    let account = public::person(cx, name).await?;
    if account.is_suspended() {
        return Ok(gone(cx));
    }
    let slice = public::statuses(cx, &account, true, cursor).await?;
    let statuses = web::statuses(cx, &slice.shown).await?;
    let url = feed_url(cx, &account, format.extension());
    let full = i64::try_from(slice.ids.len()).is_ok_and(|count| count >= cursor.limit);
    let updated = account.last_status_at.unwrap_or(account.created_at);
    let context = context! {
        feed_url => url,
        next_url => slice.ids.last().filter(|_| full).map(|id| format!("{url}?max_id={id}")),
        updated_iso => updated.to_api_seconds(),
        updated_rfc2822 => updated.to_rfc2822(),
        account => web::account(cx, &account).await?,
        statuses,
    };
    let page = Page::render(cx, format.template(), context)?.with_header(header::CONTENT_TYPE, format.content_type());
    Ok(visitor.answer(robots(page, &account)))
}

/// Sets `X-Robots-Tag`, as a feed has no `<meta name="robots">`.
fn robots(page: Page, account: &Account) -> Page {
    if account.other_settings.noindex || !account.indexable || account.is_limited() {
        return page.with_header(HeaderName::from_static("x-robots-tag"), "noindex, noarchive");
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feed_is_recognised_by_its_ending() {
        assert_eq!(Format::split("alice.atom"), Some(("alice", Format::Atom)));
        assert_eq!(Format::split("alice.rss"), Some(("alice", Format::Rss)));
        assert_eq!(Format::split("alice"), None);
        assert_eq!(Format::split("aliceatom"), None);
    }
}
