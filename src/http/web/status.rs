//! The page of a status, `/@alice/1`, with its ancestors and replies.

use axum::response::Response;
use minijinja::context;

use super::profile::{DESCRIPTION_CHARS, gone, is_named, redirect_permanently, with_document};
use super::{Cookies, Page, Visitor, elsewhere, redirect, session};
use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::Path;
use entity::web::{self, WebStatus, clip};
use model::media::MediaKind;
use model::urls::Owner;
use model::{AccountId, StatusId};
use service::public;

/// Maximum length of the status text in the title of its page, in characters.
const TITLE_CHARS: usize = 50;

/// `GET /@{name}/{id}`: the page of a status; for a known status of another server a page that
/// leads there.
///
/// # Errors
/// [`Error::NotFound`] when the account or status does not exist or is not public.
pub async fn show(
    cx: Cx,
    visitor: Visitor,
    cookies: Cookies,
    Path((name, id)): Path<(String, StatusId)>,
) -> Result<Response> {
    if name.contains('@') {
        let viewer = session::viewer(&cx, &cookies).await?;
        if let Some(page) = public::remote_status_page(&cx, viewer.as_ref(), &name, id).await? {
            return elsewhere::page(&cx, &name, &page);
        }
    }
    let account = public::person(&cx, &name).await?;
    if account.is_suspended() {
        return Ok(gone(&cx));
    }
    if !is_named(&account, &name) {
        return Ok(redirect(&cx.urls.status(&account.username, id)));
    }
    let (seen, thread) = public::status(&cx, &account, id).await?;
    let (above, below) = (thread.ancestors.len(), thread.descendants.len());
    let (is_reblog, leaves) = (seen.original().is_some(), !seen.is_local_only());
    let mut shown = web::statuses(&cx, &[thread.ancestors, vec![seen], thread.descendants].concat()).await?;
    if shown.len() != above + 1 + below {
        // A status of the thread was deleted between the two queries.
        return Err(Error::Unavailable("The thread is changing, try again".into()).into());
    }
    let descendants = shown.split_off(above + 1);
    let status = shown.pop().ok_or(Error::NotFound)?;
    if is_reblog {
        let is_own = status.url.strip_prefix(cx.urls.origin.as_str()).is_some_and(|path| path.starts_with('/'));
        return if is_own { Ok(redirect(&status.url)) } else { elsewhere::page(&cx, &status.author.acct, &status.url) };
    }
    let uri = status.uri.clone();
    let context = context! {
        page_title => title(&cx, &status),
        noindex => status.author.noindex || !status.author.indexable || status.visibility != "public",
        og => preview(&cx, &status),
        activity_url => leaves.then_some(&status.uri),
        oembed_url => oembed(&cx, &status),
        visitors => leaves && !cx.config.access.limited_federation,
        ancestors => shown,
        status, descendants,
    };
    let page = Page::render(&cx, "status.html", context)?.allowing_external_redirect();
    let response = visitor.answer(page);
    Ok(if leaves { with_document(response, &uri) } else { response })
}

/// `GET /users/{name}/statuses/{id}`: redirects the URL of the ActivityPub object to the page.
pub async fn moved(cx: Cx, Path((name, id)): Path<(String, StatusId)>) -> Result<Response> {
    Ok(redirect_permanently(&cx.urls.status(&name, id)))
}

/// `GET /ap/users/{account}/statuses/{id}`: as [`moved`].
///
/// # Errors
/// [`Error::NotFound`] when there is no such account.
pub async fn numbered(cx: Cx, Path((account, id)): Path<(AccountId, StatusId)>) -> Result<Response> {
    let account = public::named(&cx, &Owner::Id(account)).await?;
    Ok(redirect_permanently(&cx.urls.status(&account.username, id)))
}

fn title(cx: &Cx, status: &WebStatus) -> String {
    let words = clip(opening(status), TITLE_CHARS);
    cx.language().say_with("thread.quoted", &[("name", &status.author.display_name), ("words", &words)])
}

/// The text for the title and link previews: only the content warning, when there is one.
fn opening(status: &WebStatus) -> &str {
    if status.spoiler_text.is_empty() { &status.title } else { &status.spoiler_text }
}

/// The oEmbed address of the status. This page is public, so other sites may embed the status.
fn oembed(cx: &Cx, status: &WebStatus) -> String {
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("url", &status.url).finish();
    cx.urls.path(&format!("/api/oembed?{query}"))
}

fn preview(cx: &Cx, status: &WebStatus) -> minijinja::Value {
    let hidden = status.sensitive || !status.spoiler_text.is_empty();
    let image = status.media.iter().find(|media| !hidden && media.kind != MediaKind::Audio);
    let words = if status.spoiler_text.is_empty() { &status.words } else { &status.spoiler_text };
    let author = &status.author;
    context! {
        type => "article",
        title => format!("{} (@{}@{})", author.display_name, author.acct, cx.urls.local_domain),
        description => clip(words, DESCRIPTION_CHARS),
        url => status.url,
        image => match image {
            Some(media) => media.preview_url.clone(),
            None => Some(author.avatar.clone()).filter(|_| !hidden),
        },
        image_alt => image.and_then(|media| media.description.clone()),
        image_width => image.and_then(|media| media.width),
        image_height => image.and_then(|media| media.height),
        card => if image.is_some() { "summary_large_image" } else { "summary" },
    }
}
