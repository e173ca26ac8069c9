//! Notes and the activities that published them.

use std::sync::Arc;

use chrono::TimeDelta;
use context::json::Fragment;
use context::{Cx, Error, Result};
use entity::activity::{self, Files};
use model::clock::Ids;
use model::interaction::InteractionKind;
use model::{Account, Actor, RowId, Status, StatusId, Time, Visibility, urls};
use serde::Serialize;
use service::status::decision::{self, Parties};
use service::visibility::{self, Seen};

use super::served::{Keep, Served, with_context};
use crate::fetch::Bearcap;

/// How long a note may be kept, in minutes (docs/contract/federation.md#2-uris).
pub(super) const KEEP: u32 = 3;
/// The purpose from which the tokens of limited statuses are derived.
const CAPABILITY: &str = "bearcap";

/// How long a capability opens its note: receivers fetch that once, and later edits are sent. Beyond it the audience
/// signs its requests, like anyone else.
const CAPABILITY_PERIOD: TimeDelta = TimeDelta::days(14);

/// True when `token` is the capability that opens the status `id`: requests of apps carry tokens too.
pub(super) fn opens(cx: &Cx, id: StatusId, token: Option<&str>) -> bool {
    let is_recent = i64::from(id) >= Ids::first_at(cx.clock.now() - CAPABILITY_PERIOD);
    is_recent && token.is_some_and(|token| cx.keys.verify(CAPABILITY, &id.to_string(), token))
}

/// The note of a status of `author`, if `viewer` may see it. For a limited one its capability suffices, `token`.
pub(super) async fn note(
    cx: &Cx,
    author: &Account,
    id: StatusId,
    viewer: Option<&Actor>,
    token: Option<&str>,
) -> Result<Served> {
    if opens(cx, id, token) {
        return limited_note(cx, author, id).await;
    }
    let head = *original(cx, author, id, viewer).await?.head();
    let render = async {
        let status = store::status::find(&cx.db, id).await?.ok_or(Error::NotFound)?;
        let note = activity::notes(cx, author, &[status], Files::Served(&cx.urls)).await?.pop();
        Ok::<_, Error>(Arc::from(with_context(&note.ok_or(Error::NotFound)?)))
    };
    // The bytes are the same for every viewer; who is one was decided above. Only what everyone may read is kept.
    if !head.visibility.is_anonymous() {
        return Ok(Served { keep: Keep::Nobody, ..Served::new(render.await?, KEEP) });
    }
    let key = (id, head.version, [head.replies_count, head.reblogs_count, head.favourites_count]);
    Ok(Served::new(cx.caches.notes.get_or_make(&key, render).await?, KEEP))
}

/// The status or reblog `id` of `author`, if `viewer` may see it and it leaves this server.
///
/// # Errors
/// [`Error::NotFound`] for any other, and [`Error::Gone`] for one that was deleted and that everyone could read.
async fn seen(cx: &Cx, author: &Account, id: StatusId, viewer: Option<&Actor>) -> Result<Seen> {
    match visibility::status(cx, viewer, id).await {
        Err(Error::NotFound) => Err(missing(cx, author, id).await?),
        Ok(seen) if seen.head().account_id != author.id || seen.is_local_only() => Err(Error::NotFound),
        seen => seen,
    }
}

/// As [`seen`], for a status that is not a reblog.
pub(super) async fn original(cx: &Cx, author: &Account, id: StatusId, viewer: Option<&Actor>) -> Result<Seen> {
    let seen = seen(cx, author, id, viewer).await?;
    if seen.original().is_some() { Err(Error::NotFound) } else { Ok(seen) }
}

/// Why a status that cannot be read is missing: it was deleted, or everything else.
async fn missing(cx: &Cx, author: &Account, id: StatusId) -> Result<Error> {
    let deleted = store::tombstone::exists(&cx.db, &urls::note(&author.uri, id), author.id).await?;
    Ok(if deleted { Error::Gone } else { Error::NotFound })
}

/// The note of a limited status, for a request with its capability.
async fn limited_note(cx: &Cx, author: &Account, id: StatusId) -> Result<Served> {
    let status = store::status::find(&cx.db, id).await?.ok_or(Error::NotFound)?;
    if status.account_id != author.id || status.visibility != Visibility::Limited || !status.local || status.local_only
    {
        return Err(Error::NotFound);
    }
    let note = activity::notes(cx, author, &[status], Files::Served(&cx.urls)).await?.pop().ok_or(Error::NotFound)?;
    Ok(Served { keep: Keep::Nobody, ..Served::new(with_context(&note), KEEP) })
}

/// The activity that published a status of `author`, or the reblog, if `viewer` may see it.
pub(super) async fn activity(cx: &Cx, author: &Account, id: StatusId, viewer: Option<&Actor>) -> Result<Served> {
    seen(cx, author, id, viewer).await?;
    let status = store::status::find(&cx.db, id).await?.ok_or(Error::NotFound)?;
    let body = activity_of(cx, author, &status).await?.ok_or(Error::NotFound)?;
    Ok(Served::new(body, KEEP))
}

/// The activity that publishes `status`; `None` for a reblog of a deleted status.
///
/// # Errors
/// When the database fails.
pub async fn activity_of(cx: &Cx, author: &Account, status: &Status) -> Result<Option<String>> {
    let files = Files::Served(&cx.urls);
    let activity = activity::activities(cx, author, std::slice::from_ref(status), files).await?.pop();
    Ok(activity.as_ref().map(with_context))
}

/// The request `id` of `author` to quote or to reply with `status`, which is inline: its receiver may not see it otherwise.
/// `None` when it was decided meanwhile, or its target is gone.
///
/// # Errors
/// When the database fails.
pub async fn request_of(cx: &Cx, author: &Account, status: &Status, id: RowId) -> Result<Option<String>> {
    #[derive(Serialize)]
    struct Request<'a> {
        id: String,
        #[serde(rename = "type")]
        kind: &'static str,
        actor: &'a str,
        object: &'a str,
    }
    let Some(Parties { request, target, .. }) = decision::find_waiting(cx, id).await? else { return Ok(None) };
    let files = Files::Served(&cx.urls);
    let note = activity::notes(cx, author, std::slice::from_ref(status), files).await?.pop();
    let Some(note) = note else { return Ok(None) };
    let head = Request {
        id: urls::request(&author.uri, id),
        kind: if request.kind == InteractionKind::Quote { "QuoteRequest" } else { "ReplyRequest" },
        actor: &author.uri,
        object: &target,
    };
    let mut document = Fragment::of(&head)?.open();
    document.member("instrument", note.as_str());
    Ok(Some(with_context(&document.close())))
}

/// The activity about a change of `status` that was made at `at`: an edit, or votes.
///
/// # Errors
/// When the database fails.
pub async fn update_of(cx: &Cx, author: &Account, status: &Status, at: Time) -> Result<String> {
    Ok(with_context(&activity::update(cx, author, status, at, Files::Served(&cx.urls)).await?))
}

/// The activity that publishes a limited status: it contains only the capability with which the note is fetched.
///
/// # Errors
/// [`Error::Internal`], which is a bug.
pub fn limited(cx: &Cx, author: &Account, status: &Status) -> Result<String> {
    #[derive(Serialize)]
    struct Create<'a> {
        id: String,
        #[serde(rename = "type")]
        kind: &'static str,
        actor: &'a str,
        published: String,
        to: [String; 1],
        object: String,
    }
    let token = cx.keys.derive(CAPABILITY, &status.id.to_string()).expose().to_owned();
    let context = status.conversation_id.map(|id| cx.urls.path(&format!("/contexts/{id}")));
    let create = Create {
        id: activity::id_of(status),
        kind: "Create",
        actor: &author.uri,
        published: status.created_at.to_api(),
        to: [context.unwrap_or_else(|| "kmyblue:Limited".to_owned())],
        object: Bearcap { url: status.uri.clone(), token }.to_string(),
    };
    Ok(with_context(&context::json::Fragment::of(&create)?))
}
