//! The feeds of a person: `/@alice.atom` (RFC 4287) and `/@alice.rss` (RSS 2.0), of what they say to everyone.

use axum::http::{HeaderName, header};
use axum::response::Response;
use minijinja::context;

use super::profile::{feed_url, gone};
use super::{Page, Visitor};
use crate::app::App;
use crate::entity::web;
use crate::error::Result;
use crate::service::public;
use model::{Account, Cursor};

/// How a feed is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// RFC 4287.
    Atom,
    /// RSS 2.0.
    Rss,
}

impl Format {
    /// The name and the format of `alice.atom` or `alice.rss`.
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

/// The feed of the person called `name`, from `cursor` on.
pub(super) async fn show(
    app: &App,
    visitor: &Visitor,
    name: &str,
    format: Format,
    cursor: &Cursor,
) -> Result<Response> {
    let account = public::person(app, name).await?;
    if account.is_suspended() {
        return Ok(gone(app));
    }
    let slice = public::statuses(app, &account, true, cursor).await?;
    let statuses = web::statuses(app, &slice.shown).await?;
    let url = feed_url(app, &account, format.extension());
    let full = i64::try_from(slice.ids.len()).is_ok_and(|count| count >= cursor.limit);
    let updated = account.last_status_at.unwrap_or(account.created_at);
    let context = context! {
        feed_url => url,
        next_url => slice.ids.last().filter(|_| full).map(|id| format!("{url}?max_id={id}")),
        updated_iso => updated.to_api_seconds(),
        updated_rfc2822 => updated.to_rfc2822(),
        account => web::account(app, &account).await?,
        statuses,
    };
    let page = Page::render(app, format.template(), context)?.with_header(header::CONTENT_TYPE, format.content_type());
    Ok(visitor.answer(robots(page, &account)))
}

/// A feed has no place for the word in itself.
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
    fn a_feed_is_told_by_its_ending() {
        assert_eq!(Format::split("alice.atom"), Some(("alice", Format::Atom)));
        assert_eq!(Format::split("alice.rss"), Some(("alice", Format::Rss)));
        assert_eq!(Format::split("alice"), None);
        assert_eq!(Format::split("aliceatom"), None);
    }
}
