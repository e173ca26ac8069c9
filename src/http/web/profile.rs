//! The profile page of an account, `/@alice`, and the URLs that redirect to it.

use std::fmt::Display;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use minijinja::{Value, context};

use super::{Visitor, elsewhere, error_page, feed, redirect};
use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::{Paging, Path};
use entity::web::{self, WebAccount, WebStatus, clip};
use model::filter::FilterContext;
use model::urls::Owner;
use model::{Account, AccountId, Actor, StatusId};
use service::timeline::{self, ProfileQuery};
use service::{list, public};

/// Maximum length of a page's description in link previews, in characters.
pub(super) const DESCRIPTION_CHARS: usize = 300;

/// How long an account can be muted, in seconds.
const MUTE_TIMES: [i64; 6] = [1_800, 3_600, 21_600, 86_400, 259_200, 604_800];

/// The lists of a profile page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tab {
    /// Statuses and reblogs without replies to others, after the pinned statuses.
    Statuses,
    /// Replies too.
    Replies,
    /// Statuses with attachments.
    Media,
}

impl Tab {
    const fn name(self) -> &'static str {
        match self {
            Self::Statuses => "statuses",
            Self::Replies => "replies",
            Self::Media => "media",
        }
    }

    fn query(self) -> ProfileQuery {
        match self {
            Self::Statuses => ProfileQuery { exclude_replies: true, ..ProfileQuery::default() },
            Self::Replies => ProfileQuery::default(),
            Self::Media => ProfileQuery { only_media: true, exclude_reblogs: true, ..ProfileQuery::default() },
        }
    }
}

/// `GET /@{name}`: the profile page, or with the suffix `.atom` or `.rss` a feed. For a known account of another server
/// a page that leads there; people who are signed in see the profile itself.
///
/// # Errors
/// [`context::error::Error::NotFound`] when there is no such account.
pub async fn show(cx: Cx, visitor: Visitor, Path(name): Path<String>, paging: Paging) -> Result<Response> {
    if let Some((name, format)) = feed::Format::split(&name) {
        return feed::show(&cx, &visitor, name, format, &paging.cursor).await;
    }
    profile(&cx, &visitor, &name, Tab::Statuses, &paging).await
}

/// `GET /@{name}/with_replies`
///
/// # Errors
/// As [`show`].
pub async fn with_replies(cx: Cx, visitor: Visitor, Path(name): Path<String>, paging: Paging) -> Result<Response> {
    profile(&cx, &visitor, &name, Tab::Replies, &paging).await
}

/// `GET /@{name}/media`
///
/// # Errors
/// As [`show`].
pub async fn media(cx: Cx, visitor: Visitor, Path(name): Path<String>, paging: Paging) -> Result<Response> {
    profile(&cx, &visitor, &name, Tab::Media, &paging).await
}

async fn profile(cx: &Cx, visitor: &Visitor, name: &str, tab: Tab, paging: &Paging) -> Result<Response> {
    let viewer = visitor.viewer.as_ref();
    if viewer.is_none()
        && let Some(page) = public::remote_account_page(cx, name).await?
    {
        return elsewhere::page(cx, name, &page);
    }
    let account = match public::person_for(cx, viewer, name).await {
        // Somebody of another server may be found there.
        Err(Error::NotFound) if viewer.is_some() && name.contains('@') => return Ok(redirect(&look_up(name))),
        found => found?,
    };
    if account.is_suspended() {
        return Ok(gone(cx));
    }
    if account.is_local() && !is_named(&account, name) {
        return Ok(redirect(&cx.urls.profile(&account.username)));
    }
    let slice = timeline::profile(cx, viewer, account.id, &tab.query(), &paging.cursor).await?;
    let is_first = paging.cursor.max_id.or(paging.cursor.min_id).or(paging.cursor.since_id).is_none();
    let has_pins = is_first && tab == Tab::Statuses;
    let pins = if has_pins { public::pinned(cx, viewer, &account).await? } else { Vec::new() };
    let pinned: Vec<StatusId> = pins.iter().map(|seen| seen.head().id).collect();
    // Pinned statuses are shown at the top only.
    let others = slice.shown.into_iter().filter(|seen| !pinned.contains(&seen.head().id));
    let page: Vec<_> = pins.into_iter().chain(others).collect();
    let mut statuses = web::statuses(cx, viewer, Some(FilterContext::Account), &page).await?;
    statuses.iter_mut().for_each(|status| status.pinned = pinned.contains(&status.entry));
    let (pinned, statuses): (Vec<WebStatus>, Vec<WebStatus>) = statuses.into_iter().partition(|status| status.pinned);
    let shown = web::account(cx, &account).await?;
    let relationship = match viewer.filter(|viewer| viewer.id != account.id) {
        Some(viewer) => Some(web::relationship(cx, viewer, account.id).await?),
        None => None,
    };
    let lists = match &relationship {
        Some(_) => viewer_lists(cx, viewer).await?,
        None => Vec::new(),
    };
    let local = account.is_local();
    let context = context! {
        page_title => format!("{} (@{})", shown.display_name, shown.acct),
        noindex => !local || tab != Tab::Statuses || account.other_settings.noindex || account.is_limited() || !is_first,
        og => local.then(|| preview(cx, &shown)),
        feeds => local.then(|| context! { atom => feed_url(cx, &account, "atom"), rss => feed_url(cx, &account, "rss") }),
        rel_me => shown.rel_me,
        visitors => viewer.is_none() && !cx.config.access.limited_federation,
        is_own => viewer.is_some_and(|viewer| viewer.id == account.id),
        account_id => account.id,
        path => format!("/@{}", shown.acct),
        tab => tab.name(),
        local,
        older_url => paging.older(&slice.ids),
        newer_url => paging.newer(&slice.ids),
        languages => relationship.is_some().then(|| text::language::listed_in(cx.language().code())),
        mute_times => MUTE_TIMES.map(|seconds| context! { seconds, label => cx.language().duration(seconds) }),
        lists,
        relationship, account => shown, pinned, statuses,
    };
    let page = visitor.page(cx, "profile.html", context)?.allowing_external_redirect();
    let response = visitor.respond(page);
    Ok(if local { with_document(response, &account.uri) } else { response })
}

/// The lists that an account can be added to.
async fn viewer_lists(cx: &Cx, viewer: Option<&Actor>) -> Result<Vec<Value>> {
    let Some(viewer) = viewer else { return Ok(Vec::new()) };
    let lists = list::list(cx, viewer).await?;
    Ok(lists.into_iter().map(|list| context! { id => list.id, title => list.title }).collect())
}

/// Where an address or URL is looked up for people who are signed in.
pub(super) fn look_up(uri: &str) -> String {
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("uri", uri).finish();
    format!("/authorize_interaction?{query}")
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
