//! The page of a status, `/@alice/1`, with what it answers and what answers it.

use axum::extract::State;
use axum::response::Response;
use minijinja::context;

use super::profile::{DESCRIPTION_CHARS, gone, permanently};
use super::{Page, Visitor, redirect};
use crate::app::App;
use crate::entity::web::{self, WebStatus, clip};
use crate::error::{Error, Result};
use crate::http::extract::Path;
use crate::service::public;
use model::StatusId;
use model::media::MediaKind;

/// Longest part of a status in the title of its page, in characters.
const TITLE_CHARS: usize = 50;

/// `GET /@{name}/{id}`
///
/// # Errors
/// [`Error::NotFound`] when there is no such person or status, or not for everyone to see.
pub async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Path((name, id)): Path<(String, StatusId)>,
) -> Result<Response> {
    let account = public::person(&app, &name).await?;
    if account.is_suspended() {
        return Ok(gone(&app));
    }
    let (seen, thread) = public::status(&app, &account, id).await?;
    let (above, below) = (thread.ancestors.len(), thread.descendants.len());
    let is_reblog = seen.original().is_some();
    let mut shown = web::statuses(&app, &[thread.ancestors, vec![seen], thread.descendants].concat()).await?;
    if shown.len() != above + 1 + below {
        // Something was deleted this very moment.
        return Err(Error::Unavailable("The thread is changing, try again".into()));
    }
    let descendants = shown.split_off(above + 1);
    let status = shown.pop().ok_or(Error::NotFound)?;
    if is_reblog {
        return Ok(redirect(&status.url));
    }
    let context = context! {
        page_title => format!("{}: “{}”", status.author.display_name, clip(opening(&status), TITLE_CHARS)),
        noindex => status.author.noindex || !status.author.indexable || status.visibility != "public",
        og => preview(&app, &status),
        activity_url => status.uri,
        ancestors => shown,
        status, descendants,
    };
    Ok(visitor.answer(Page::render(&app, "status.html", context)?))
}

/// `GET /users/{name}/statuses/{id}`: the address of the document leads people to the page.
///
/// # Errors
/// Never; whether there is such a status is seen there.
pub async fn moved(State(app): State<App>, Path((name, id)): Path<(String, StatusId)>) -> Result<Response> {
    Ok(permanently(&app.urls.status(&name, id)))
}

/// What may stand outside of the page: the warning alone, where there is one.
fn opening(status: &WebStatus) -> &str {
    if status.spoiler_text.is_empty() { &status.title } else { &status.spoiler_text }
}

fn preview(app: &App, status: &WebStatus) -> minijinja::Value {
    let hidden = status.sensitive || !status.spoiler_text.is_empty();
    let image = status.media.iter().find(|media| !hidden && media.kind != MediaKind::Audio);
    let words = if status.spoiler_text.is_empty() { &status.words } else { &status.spoiler_text };
    let author = &status.author;
    context! {
        type => "article",
        title => format!("{} (@{}@{})", author.display_name, author.acct, app.urls.local_domain),
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
