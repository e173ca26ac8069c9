//! The page of a person, `/@alice`, and the addresses that lead to it.

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use minijinja::context;

use super::{Page, Visitor, error_page, feed};
use crate::app::App;
use crate::entity::web::{self, WebAccount, WebStatus, clip};
use crate::error::Result;
use crate::http::extract::{Paging, Path};
use crate::service::public;
use model::{Account, StatusId};

/// Longest description of a page for those who show previews of it, in characters.
pub(super) const DESCRIPTION_CHARS: usize = 300;

/// `GET /@{name}`: the page, or with `.atom` or `.rss` behind the name a feed.
///
/// # Errors
/// [`crate::error::Error::NotFound`] when there is no such person.
pub async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Path(name): Path<String>,
    paging: Paging,
) -> Result<Response> {
    if let Some((name, format)) = feed::Format::split(&name) {
        return feed::show(&app, &visitor, name, format, &paging.cursor).await;
    }
    let account = public::person(&app, &name).await?;
    if account.is_suspended() {
        return Ok(gone(&app));
    }
    let slice = public::statuses(&app, &account, false, &paging.cursor).await?;
    let is_first = paging.cursor.max_id.or(paging.cursor.min_id).or(paging.cursor.since_id).is_none();
    let pins = if is_first { public::pinned(&app, &account).await? } else { Vec::new() };
    let pinned: Vec<StatusId> = pins.iter().map(|seen| seen.head().id).collect();
    // What is pinned stands at the top alone.
    let others = slice.shown.into_iter().filter(|seen| !pinned.contains(&seen.head().id));
    let mut statuses = web::statuses(&app, &pins.into_iter().chain(others).collect::<Vec<_>>()).await?;
    statuses.iter_mut().for_each(|status| status.pinned = pinned.contains(&status.id) && status.reblogged_by.is_none());
    let (pinned, statuses): (Vec<WebStatus>, Vec<WebStatus>) = statuses.into_iter().partition(|status| status.pinned);
    let shown = web::account(&app, &account).await?;
    let context = context! {
        page_title => format!("{} (@{})", shown.display_name, shown.acct),
        noindex => account.other_settings.noindex || account.is_limited() || !is_first,
        og => preview(&app, &shown),
        feeds => context! { atom => feed_url(&app, &account, "atom"), rss => feed_url(&app, &account, "rss") },
        rel_me => shown.rel_me,
        older_url => older(&paging, &slice.ids),
        newer_url => newer(&paging, &slice.ids),
        account => shown, pinned, statuses,
    };
    Ok(visitor.answer(Page::render(&app, "profile.html", context)?))
}

/// `GET /users/{name}`: the address of an actor leads people to the page, and that of a feed to the feed.
///
/// # Errors
/// Never; whether there is such a person is seen there.
pub async fn moved(State(app): State<App>, Path(name): Path<String>) -> Result<Response> {
    Ok(permanently(&app.urls.profile(&name)))
}

/// The page of someone whom moderators suspended.
pub(super) fn gone(app: &App) -> Response {
    error_page(app, StatusCode::GONE, "This account is suspended")
}

/// Sends a browser to `url` for good.
pub(super) fn permanently(url: &str) -> Response {
    let escaped = percent_encoding::utf8_percent_encode(url, percent_encoding::CONTROLS).to_string();
    match HeaderValue::from_str(&escaped) {
        Ok(value) => (StatusCode::MOVED_PERMANENTLY, [(header::LOCATION, value)]).into_response(),
        Err(_) => StatusCode::NOT_FOUND.into_response(),
    }
}

/// The address of a feed of `account`.
pub(super) fn feed_url(app: &App, account: &Account, extension: &str) -> String {
    format!("{}.{extension}", app.urls.profile(&account.username))
}

/// Where the next older page is, if there may be one.
pub(super) fn older(paging: &Paging, ids: &[i64]) -> Option<String> {
    let full = i64::try_from(ids.len()).is_ok_and(|count| count >= paging.cursor.limit);
    ids.last().filter(|_| full || paging.cursor.ascending()).map(|id| format!("?max_id={id}"))
}

/// Where the next newer page is, if there may be one.
pub(super) fn newer(paging: &Paging, ids: &[i64]) -> Option<String> {
    let full = i64::try_from(ids.len()).is_ok_and(|count| count >= paging.cursor.limit);
    let above = if paging.cursor.ascending() { full } else { paging.cursor.max_id.is_some() };
    ids.first().filter(|_| above).map(|id| format!("?min_id={id}"))
}

fn preview(app: &App, account: &WebAccount) -> minijinja::Value {
    let counts = format!("{} posts, {} followers", account.statuses_count, account.followers_count);
    context! {
        type => "profile",
        title => format!("{} (@{}@{})", account.display_name, account.username, app.urls.local_domain),
        description => if account.note_text.is_empty() { counts } else { clip(&account.note_text, DESCRIPTION_CHARS) },
        url => account.url,
        image => account.avatar,
        image_alt => "",
        image_width => 400,
        image_height => 400,
    }
}
