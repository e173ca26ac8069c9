//! Feeds of the public statuses of an account and with a hashtag: `/@alice.atom` and `/tags/rooks.atom` (RFC 4287), and
//! with `.rss` RSS 2.0.
//!
//! Reached through [`profile::show`](super::profile::show) and [`tag::show`](super::tag::show), which recognise the suffix.

use axum::http::{HeaderName, header};
use axum::response::Response;
use minijinja::context;

use super::profile::{feed_url, gone};
use super::{Page, Visitor};
use crate::Cx;
use crate::error::Result;
use entity::{server_pictures, web};
use model::{Account, Cursor, Time};
use service::public;
use service::timeline::TimelinePage;

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

    pub(super) const fn extension(self) -> &'static str {
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
    let slice = public::feed(cx, &account, cursor).await?;
    let statuses = web::feed(cx, &slice.shown).await?;
    let url = feed_url(cx, &account, format.extension());
    let full = i64::try_from(slice.ids.len()).is_ok_and(|count| count >= cursor.limit);
    let updated = account.last_status_at.unwrap_or(account.created_at);
    let shown = web::account(cx, &account).await?;
    let description = match shown.note_text.as_str() {
        "" => cx.language().say_with("profile.feed", &[("name", &shown.display_name)]),
        note => note.to_owned(),
    };
    let context = context! {
        feed => context! {
            title => format!("{} (@{}@{})", shown.display_name, shown.username, cx.urls.local_domain),
            description, icon => shown.avatar, page => shown.url,
        },
        author => context! { name => shown.display_name, url => shown.url },
        feed_url => url,
        next_url => slice.ids.last().filter(|_| full).map(|id| format!("{url}?max_id={id}")),
        updated_iso => updated.to_api_seconds(),
        updated_rfc2822 => updated.to_rfc2822(),
        statuses,
    };
    Ok(visitor.respond(robots(page(cx, format, context)?, &account)))
}

/// The feed of the public statuses `slice` with the hashtag `name`.
pub(super) async fn of_tag(
    cx: &Cx,
    visitor: &Visitor,
    name: &str,
    format: Format,
    (slice, cursor): (&TimelinePage, &Cursor),
) -> Result<Response> {
    let statuses = web::feed(cx, &slice.shown).await?;
    let url = format!("{}.{}", cx.urls.tag(name), format.extension());
    let full = i64::try_from(slice.ids.len()).is_ok_and(|count| count >= cursor.limit);
    let updated =
        statuses.first().map(|status| (status.status.created_at_iso.clone(), status.created_at_rfc2822.clone()));
    // Without a status it never changed.
    let never = || (Time::from_micros(0).to_api_seconds(), Time::from_micros(0).to_rfc2822());
    let (updated_iso, updated_rfc2822) = updated.unwrap_or_else(never);
    let context = context! {
        feed => context! {
            title => format!("#{name} · {}", cx.settings().site_title),
            description => cx.language().say_with("tag.hint", &[("domain", &cx.urls.local_domain)]),
            icon => server_pictures::icon(cx, 180), page => cx.urls.tag(name),
        },
        feed_url => url,
        next_url => slice.ids.last().filter(|_| full).map(|id| format!("{url}?max_id={id}")),
        updated_iso, updated_rfc2822, statuses,
    };
    let page = page(cx, format, context)?.with_header(HeaderName::from_static("x-robots-tag"), "noindex, noarchive");
    Ok(visitor.respond(page))
}

fn page(cx: &Cx, format: Format, context: minijinja::Value) -> Result<Page> {
    Ok(Page::render(cx, format.template(), context)?.with_header(header::CONTENT_TYPE, format.content_type()))
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
