//! The profile page of an account, `/@alice`, and the URLs that redirect to it.

use std::fmt::Display;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use minijinja::context;

use super::{Page, Visitor, elsewhere, error_page, feed, redirect};
use crate::Cx;
use crate::error::Result;
use crate::extract::{Paging, Path};
use entity::web::{self, WebAccount, WebStatus, clip};
use model::urls::Owner;
use model::{Account, AccountId, StatusId};
use service::public;

/// Maximum length of a page's description in link previews, in characters.
pub(super) const DESCRIPTION_CHARS: usize = 300;

/// `GET /@{name}`: the profile page, or with the suffix `.atom` or `.rss` a feed. For a known account of another server
/// a page that leads there.
///
/// # Errors
/// [`context::error::Error::NotFound`] when there is no such account.
pub async fn show(cx: Cx, visitor: Visitor, Path(name): Path<String>, paging: Paging) -> Result<Response> {
    if let Some((name, format)) = feed::Format::split(&name) {
        return feed::show(&cx, &visitor, name, format, &paging.cursor).await;
    }
    if let Some(page) = public::remote_account_page(&cx, &name).await? {
        return elsewhere::page(&cx, &name, &page);
    }
    let account = public::person(&cx, &name).await?;
    if account.is_suspended() {
        return Ok(gone(&cx));
    }
    if !is_named(&account, &name) {
        return Ok(redirect(&cx.urls.profile(&account.username)));
    }
    let slice = public::statuses(&cx, &account, false, &paging.cursor).await?;
    let is_first = paging.cursor.max_id.or(paging.cursor.min_id).or(paging.cursor.since_id).is_none();
    let pins = if is_first { public::pinned(&cx, None, &account).await? } else { Vec::new() };
    let pinned: Vec<StatusId> = pins.iter().map(|seen| seen.head().id).collect();
    // Pinned statuses are shown at the top only.
    let others = slice.shown.into_iter().filter(|seen| !pinned.contains(&seen.head().id));
    let mut statuses = web::statuses(&cx, &pins.into_iter().chain(others).collect::<Vec<_>>()).await?;
    statuses.iter_mut().for_each(|status| status.pinned = pinned.contains(&status.id) && status.reblogged_by.is_none());
    let (pinned, statuses): (Vec<WebStatus>, Vec<WebStatus>) = statuses.into_iter().partition(|status| status.pinned);
    let shown = web::account(&cx, &account).await?;
    let context = context! {
        page_title => format!("{} (@{})", shown.display_name, shown.acct),
        noindex => account.other_settings.noindex || account.is_limited() || !is_first,
        og => preview(&cx, &shown),
        feeds => context! { atom => feed_url(&cx, &account, "atom"), rss => feed_url(&cx, &account, "rss") },
        rel_me => shown.rel_me,
        visitors => !cx.config.access.limited_federation,
        older_url => older(&paging, &slice.ids),
        newer_url => newer(&paging, &slice.ids),
        account => shown, pinned, statuses,
    };
    let page = Page::render(&cx, "profile.html", context)?.allowing_external_redirect();
    Ok(with_document(visitor.answer(page), &account.uri))
}

/// `response`, a page, with a link to the ActivityPub document `uri` of the same thing.
pub(super) fn with_document(mut response: Response, uri: &str) -> Response {
    if let Ok(link) = HeaderValue::from_str(&format!("<{uri}>; rel=\"alternate\"; type=\"application/activity+json\""))
    {
        response.headers_mut().append(header::LINK, link);
    }
    response
}

/// `GET /users/{name}`: redirects the URL of an actor to its profile page, and the URL of a feed to the feed.
pub async fn moved(cx: Cx, Path(name): Path<String>) -> Result<Response> {
    Ok(redirect_permanently(&cx.urls.profile(&name)))
}

/// `GET /ap/users/{account}`: redirects the URL of an actor to its profile page.
///
/// # Errors
/// [`context::error::Error::NotFound`] when there is no such account.
pub async fn numbered(cx: Cx, Path(account): Path<AccountId>) -> Result<Response> {
    let account = public::named(&cx, &Owner::Id(account)).await?;
    Ok(redirect_permanently(&cx.urls.profile(&account.username)))
}

/// True when `name`, with or without a domain of this server, is the present user name of `account`.
pub(super) fn is_named(account: &Account, name: &str) -> bool {
    name.split('@').next().is_some_and(|name| name.eq_ignore_ascii_case(&account.username))
}

/// The page of a suspended account.
pub(super) fn gone(cx: &Cx) -> Response {
    error_page(cx, StatusCode::GONE, "This account is suspended")
}

/// A permanent redirect.
pub(super) fn redirect_permanently(url: &str) -> Response {
    let escaped = percent_encoding::utf8_percent_encode(url, percent_encoding::CONTROLS).to_string();
    match HeaderValue::from_str(&escaped) {
        Ok(value) => (StatusCode::MOVED_PERMANENTLY, [(header::LOCATION, value)]).into_response(),
        Err(_) => StatusCode::NOT_FOUND.into_response(),
    }
}

/// The URL of a feed of `account`.
pub(super) fn feed_url(cx: &Cx, account: &Account, extension: &str) -> String {
    format!("{}.{extension}", cx.urls.profile(&account.username))
}

/// The query string of the next older page, if there may be one.
pub(super) fn older(paging: &Paging, ids: &[i64]) -> Option<String> {
    let full = i64::try_from(ids.len()).is_ok_and(|count| count >= paging.cursor.limit);
    ids.last().filter(|_| full || paging.cursor.ascending()).map(|id| format!("?max_id={id}"))
}

/// The query string of the next newer page, if there may be one.
pub(super) fn newer(paging: &Paging, ids: &[i64]) -> Option<String> {
    let full = i64::try_from(ids.len()).is_ok_and(|count| count >= paging.cursor.limit);
    let above = if paging.cursor.ascending() { full } else { paging.cursor.max_id.is_some() };
    ids.first().filter(|_| above).map(|id| format!("?min_id={id}"))
}

fn preview(cx: &Cx, account: &WebAccount) -> minijinja::Value {
    let numbers: [(&str, &dyn Display); 2] =
        [("posts", &account.statuses_count), ("followers", &account.followers_count)];
    let counts = cx.language().say_with("profile.counts", &numbers);
    context! {
        type => "profile",
        title => format!("{} (@{}@{})", account.display_name, account.username, cx.urls.local_domain),
        description => if account.note_text.is_empty() { counts } else { clip(&account.note_text, DESCRIPTION_CHARS) },
        url => account.url,
        image => account.avatar,
        image_alt => "",
        image_width => 400,
        image_height => 400,
    }
}
