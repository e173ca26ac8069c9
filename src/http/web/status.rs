//! The page of a status, `/@alice/1`, with its ancestors and replies.

use axum::response::Response;
use minijinja::context;
use serde::Serialize;

use super::profile::{DESCRIPTION_CHARS, gone, is_named, redirect_permanently, with_document};
use super::{Visitor, elsewhere, redirect};
use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::Path;
use entity::web::{self, WebStatus, clip};
use model::filter::FilterContext;
use model::media::MediaKind;
use model::urls::Owner;
use model::{AccountId, StatusId};
use service::public;

/// Maximum length of the status text in the title of its page, in characters.
const TITLE_CHARS: usize = 50;

/// A reply on the page of a thread, with the replies to it.
#[derive(Clone, Debug, Serialize)]
struct Branch<T> {
    status: T,
    replies: Vec<Self>,
    /// The number of statuses below it.
    count: usize,
}

/// Deepest level of replies that is indented; deeper ones stand on it, in their order.
const DEPTH: usize = 5;

/// The statuses of `below`, in the order of the thread, as branches of the status `root`; `ids` are those of a status
/// and of what it replies to.
fn branches<T>(root: StatusId, below: Vec<T>, ids: impl Fn(&T) -> (StatusId, Option<StatusId>)) -> Vec<Branch<T>> {
    // The branches that are open, the deepest last.
    let mut open: Vec<Branch<T>> = Vec::new();
    let mut done: Vec<Branch<T>> = Vec::new();
    for status in below {
        let parent = ids(&status).1.filter(|id| *id != root);
        let level = parent.and_then(|parent| open.iter().position(|branch| ids(&branch.status).0 == parent));
        let depth = match (parent, level) {
            (_, Some(level)) => (level + 1).min(DEPTH),
            // A reply to a status that is not shown stands where it came.
            (Some(_), None) => open.len().min(DEPTH),
            (None, None) => 0,
        };
        close(&mut open, &mut done, depth);
        open.push(Branch { status, replies: Vec::new(), count: 0 });
    }
    close(&mut open, &mut done, 0);
    done
}

/// Marks the replies that the author of `first`, the first status of the thread, can take out of it.
fn mark_removable(first: &WebStatus, replies: &mut [WebStatus]) {
    if first.marks.as_ref().is_some_and(|marks| marks.is_own) {
        for marks in replies.iter_mut().filter_map(|reply| reply.marks.as_mut()) {
            marks.may_remove = !marks.is_own;
        }
    }
}

/// Closes the branches of `open` from the level `depth` on.
fn close<T>(open: &mut Vec<Branch<T>>, done: &mut Vec<Branch<T>>, depth: usize) {
    while open.len() > depth {
        let Some(ended) = open.pop() else { return };
        match open.last_mut() {
            Some(parent) => {
                parent.count += ended.count + 1;
                parent.replies.push(ended);
            }
            None => done.push(ended),
        }
    }
}

/// `GET /@{name}/{id}`: the page of a status; for a known status of another server a page that
/// leads there, or for people who are signed in the status itself.
///
/// # Errors
/// [`Error::NotFound`] when the account or status does not exist or is hidden.
pub async fn show(cx: Cx, visitor: Visitor, Path((name, id)): Path<(String, StatusId)>) -> Result<Response> {
    let viewer = visitor.viewer.as_ref();
    if viewer.is_none()
        && let Some(page) = public::remote_status_page(&cx, None, &name, id).await?
    {
        return elsewhere::page(&cx, &name, &page);
    }
    let account = public::person_for(&cx, viewer, &name).await?;
    if account.is_suspended() {
        return Ok(gone(&cx));
    }
    if account.is_local() && !is_named(&account, &name) {
        return Ok(redirect(&cx.urls.status(&account.username, id)));
    }
    let (seen, thread) = public::status(&cx, viewer, &account, id).await?;
    let (is_reblog, leaves) = (seen.original().is_some(), account.is_local() && !seen.is_local_only());
    // The status itself is shown whatever the filters of its viewer do.
    let status = web::statuses(&cx, viewer, None, &[seen]).await?.pop().ok_or(Error::NotFound)?;
    if is_reblog {
        let is_own = status.url.starts_with('/')
            || status.url.strip_prefix(cx.urls.origin.as_str()).is_some_and(|path| path.starts_with('/'));
        return if is_own { Ok(redirect(&status.url)) } else { elsewhere::page(&cx, &status.author.acct, &status.url) };
    }
    let above = thread.ancestors.len();
    let around = [thread.ancestors, thread.descendants].concat();
    let ids: Vec<StatusId> = around.iter().take(above).map(|seen| seen.head().id).collect();
    let around = web::statuses(&cx, viewer, Some(FilterContext::Thread), &around).await?;
    let (ancestors, mut descendants): (Vec<_>, Vec<_>) =
        around.into_iter().partition(|status| ids.contains(&status.id));
    mark_removable(ancestors.first().unwrap_or(&status), &mut descendants);
    let uri = status.uri.clone();
    let indexed = account.is_local() && status.author.indexable && !status.author.noindex;
    let context = context! {
        page_title => title(&cx, &status),
        noindex => !indexed || status.visibility != "public",
        og => account.is_local().then(|| preview(&cx, &status)),
        activity_url => leaves.then_some(&status.uri),
        oembed_url => leaves.then(|| oembed(&cx, &status)),
        visitors => viewer.is_none() && leaves && !cx.config.access.limited_federation,
        descendants => branches(status.id, descendants, |status| (status.id, status.in_reply_to_id)),
        ancestors, status,
    };
    let page = visitor.page(&cx, "status.html", context)?.allowing_external_redirect();
    let response = visitor.respond(page);
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
    let words = clip(&opening(cx, status), TITLE_CHARS);
    cx.language().say_with("thread.quoted", &[("name", &status.author.display_name), ("words", &words)])
}

/// The text for the title and link previews: only the content warning, when there is one.
fn opening(cx: &Cx, status: &WebStatus) -> String {
    if status.spoiler_text.is_empty() { status.title(cx.language()) } else { status.spoiler_text.clone() }
}

/// The oEmbed address of the status. This page is public, so other sites may embed the status.
fn oembed(cx: &Cx, status: &WebStatus) -> String {
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("url", &status.url).finish();
    cx.urls.path(&format!("/api/oembed?{query}"))
}

fn preview(cx: &Cx, status: &WebStatus) -> minijinja::Value {
    let hidden = status.sensitive || !status.spoiler_text.is_empty();
    let image = status.media.iter().find(|media| !hidden && media.kind != MediaKind::Audio);
    let words = if status.spoiler_text.is_empty() { status.words() } else { status.spoiler_text.clone() };
    let author = &status.author;
    context! {
        type => "article",
        title => format!("{} (@{}@{})", author.display_name, author.acct, cx.urls.local_domain),
        description => clip(&words, DESCRIPTION_CHARS),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(branches: &[Branch<(i64, i64)>]) -> String {
        let one = |branch: &Branch<(i64, i64)>| match branch.replies.as_slice() {
            [] => branch.status.0.to_string(),
            replies => format!("{}+{}({})", branch.status.0, branch.count, shape(replies)),
        };
        branches.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    /// The shape of a thread below 1, of ids and those of what they reply to.
    fn thread(below: &[(i64, i64)]) -> String {
        let ids = |(id, parent): &(i64, i64)| (StatusId::from(*id), Some(StatusId::from(*parent)));
        shape(&branches(StatusId::from(1), below.to_vec(), ids))
    }

    #[test]
    fn replies_stand_below_what_they_reply_to() {
        assert_eq!(thread(&[]), "");
        assert_eq!(thread(&[(2, 1), (3, 2), (4, 2), (5, 1)]), "2+2(3 4) 5");
        assert_eq!(thread(&[(2, 1), (4, 3), (5, 1)]), "2+1(4) 5", "a reply to a hidden one");
        let deep: Vec<(i64, i64)> = (2..12).map(|id| (id, id - 1)).collect();
        assert_eq!(thread(&deep), "2+9(3+8(4+7(5+6(6+5(7 8 9 10 11)))))");
    }
}
