//! Additions of extensions to the client: their timelines, the folders that statuses are put into, and reactions.
//!
//! The extensions' own routes do it; see [`ServeClient`](context::extension::ServeClient).

use std::sync::Arc;

use axum::extract::RawQuery;
use axum::response::Response;
use minijinja::{Value, context};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{back_to, status_acts};
use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::{Params, Path};
use crate::web::settings::Frame;
use crate::web::{Form, Page, redirect};
use context::extension::{ClientKind, ClientPart, ClientResponse, ClientUse};
use entity::{emoji, web};
use model::filter::FilterContext;
use model::{Actor, StatusId};
use service::visibility;

/// Most emojis of this server in the picker, after the ones offered first.
const PICKED: i64 = 400;

/// The addition `id` of `extension`, if it is of this kind.
fn part(cx: &Cx, extension: &str, id: &str, kind: ClientKind) -> Result<ClientPart> {
    let parts = cx.extensions().client_parts(cx.language());
    let found = parts.into_iter().find(|part| part.extension == extension && part.id == id && part.kind == kind);
    Ok(found.ok_or(Error::NotFound)?)
}

async fn ask(cx: &Cx, actor: &Actor, part: &ClientPart, need: ClientUse<'_>) -> Result<ClientResponse> {
    Ok(cx.extensions().ask_client(cx, &Arc::new(actor.clone()), &part.extension, &part.id, need).await?)
}

/// The things of an addition, for templates: `id` and `title`.
pub(super) async fn things(cx: &Cx, actor: &Actor, part: &ClientPart) -> Result<Vec<Value>> {
    let listed = ask(cx, actor, part, ClientUse::List).await?.body;
    let things = listed.as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |thing: &serde_json::Value, key: &str| thing.get(key)?.as_str().map(str::to_owned);
    Ok(things
        .iter()
        .filter_map(|thing| Some(context! { id => text(thing, "id")?, title => text(thing, "title")? }))
        .collect())
}

/// `GET /web/timelines/{extension}/{part}`: the things that have a timeline.
///
/// # Errors
/// [`Error::NotFound`] when no extension adds this.
pub async fn timelines(frame: Frame, Path((extension, id)): Path<(String, String)>) -> Result<Page> {
    let (cx, viewer) = (&frame.cx, frame.actor().await?);
    let part = part(cx, &extension, &id, ClientKind::Timelines)?;
    let own = context! { part => &part, things => things(cx, &viewer, &part).await? };
    frame.titled(&format!("{extension}/{id}"), &part.title, "client/additions.html", own)
}

/// `GET /web/timelines/{extension}/{part}/{thing}`: the timeline of a thing.
///
/// # Errors
/// [`Error::NotFound`] when no extension adds this, and the errors of the extension.
pub async fn timeline(
    frame: Frame,
    Path((extension, id, thing)): Path<(String, String, String)>,
    RawQuery(query): RawQuery,
) -> Result<Page> {
    let (cx, viewer) = (&frame.cx, frame.actor().await?);
    let part = part(cx, &extension, &id, ClientKind::Timelines)?;
    let query = query.unwrap_or_default();
    let found = ask(cx, &viewer, &part, ClientUse::Timeline { thing: &thing, query: &query }).await?;
    let listed = things(cx, &viewer, &part).await?;
    let named = listed.iter().find(|one| one.get_attr("id").is_ok_and(|id| id.as_str() == Some(&thing)));
    let title =
        named.and_then(|one| one.get_attr("title").ok()).map_or_else(|| part.title.clone(), |title| title.to_string());
    let own = context! {
        title => title,
        empty => frame.say("timeline.public_empty"),
        statuses => web::statuses_of(cx, &viewer, Some(FilterContext::Home), &found.body)?,
        older_url => found.older.map(|query| format!("/web/timelines/{extension}/{id}/{thing}?{query}")),
        is_first => query.is_empty(),
    };
    frame.titled(&format!("{extension}/{id}"), &title, "client/timeline.html", own)
}

/// Fields of the forms.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Act {
    /// Folders: `add` or `remove`.
    act: Option<String>,
    /// Folders: the thing.
    thing: Option<String>,
    /// Reactions: a Unicode emoji, or the shortcode of a custom one, to react with.
    react: Option<String>,
    /// Reactions: as `react`, to take it back.
    unreact: Option<String>,
    /// The page to return to.
    back: Option<String>,
    /// Reactions: whether the response is the status alone, as on the page, instead of a redirect.
    part: Option<bool>,
}

/// Query parameters of the pages.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Place {
    /// The page to return to.
    back: Option<String>,
}

/// The status `id` as on a page.
async fn shown(cx: &Cx, viewer: &Actor, id: StatusId) -> Result<web::WebStatus> {
    let seen = visibility::status(cx, Some(viewer), id).await?;
    Ok(web::statuses(cx, Some(viewer), None, &[seen]).await?.pop().ok_or(Error::NotFound)?)
}

/// `GET /web/folders/{extension}/{part}/{status}`: the things that the status can be put into.
///
/// # Errors
/// [`Error::NotFound`] when no extension adds this, or the status is missing or hidden.
pub async fn folders(
    frame: Frame,
    Path((extension, id, status)): Path<(String, String, StatusId)>,
    Params(place): Params<Place>,
) -> Result<Page> {
    let (cx, viewer) = (&frame.cx, frame.actor().await?);
    let part = part(cx, &extension, &id, ClientKind::Folders)?;
    let own = context! {
        part => &part,
        back => back_to(place.back.as_deref(), None),
        status => shown(cx, &viewer, status).await?,
        things => things(cx, &viewer, &part).await?,
    };
    frame.titled("status", &part.title, "client/folders.html", own)
}

/// `POST /web/folders/{extension}/{part}/{status}`
///
/// # Errors
/// As [`folders`]; [`Error::BadRequest`] for another act; the errors of the extension.
pub async fn file(
    frame: Frame,
    Path((extension, id, status)): Path<(String, String, StatusId)>,
    Form(form): Form<Act>,
) -> Result<Response> {
    let (cx, actor) = (&frame.cx, frame.actor().await?);
    let part = part(cx, &extension, &id, ClientKind::Folders)?;
    let thing = form.thing.as_deref().ok_or_else(|| Error::missing("thing"))?;
    let status = status.to_string();
    let (need, notice) = match form.act.as_deref() {
        Some("add") => (ClientUse::Add { thing, status: &status }, "additions.added"),
        Some("remove") => (ClientUse::Remove { thing, status: &status }, "additions.removed"),
        _ => return Err(Error::bad_request("act is add or remove").into()),
    };
    ask(cx, &actor, &part, need).await?;
    Ok(frame.done(notice, &back_to(form.back.as_deref(), Some(&format!("status-{status}")))))
}

/// `GET /web/reactions/{extension}/{part}/{status}`: the picker.
///
/// # Errors
/// As [`folders`].
pub async fn picker(
    frame: Frame,
    Path((extension, id, status)): Path<(String, String, StatusId)>,
    Params(place): Params<Place>,
) -> Result<Page> {
    let (cx, viewer) = (&frame.cx, frame.actor().await?);
    let part = part(cx, &extension, &id, ClientKind::Reactions)?;
    let own = context! {
        part => &part,
        back => back_to(place.back.as_deref(), None),
        status => shown(cx, &viewer, status).await?,
        offered => offered(cx, &viewer).await,
        emojis => emoji::named(cx, "", PICKED),
    };
    frame.titled("status", &part.title, "client/picker.html", own)
}

/// The emojis that any extension offers first, such as a person's own: objects with `name`, and `url` for custom ones. An
/// extension that gives no answer offers none.
async fn offered(cx: &Cx, viewer: &Actor) -> Vec<serde_json::Value> {
    let parts = cx.extensions().client_parts(cx.language());
    let mut found = Vec::new();
    for part in parts.iter().filter(|part| part.kind == ClientKind::Emojis) {
        match ask(cx, viewer, part, ClientUse::List).await {
            Ok(ClientResponse { body: serde_json::Value::Array(emojis), .. }) => found.extend(emojis),
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(extension = part.extension, ?error, "could not list the emojis that are offered first");
            }
        }
    }
    found
}

/// `POST /web/reactions/{extension}/{part}/{status}`
///
/// # Errors
/// As [`folders`]; [`Error::BadRequest`] without an emoji; the errors of the extension.
pub async fn react(
    frame: Frame,
    Path((extension, id, status)): Path<(String, String, StatusId)>,
    Form(form): Form<Act>,
) -> Result<Response> {
    let (cx, actor) = (&frame.cx, frame.actor().await?);
    let part = part(cx, &extension, &id, ClientKind::Reactions)?;
    let named = |emoji: &Option<String>| {
        let emoji = emoji.as_deref()?.trim().trim_matches(':').to_owned();
        (!emoji.is_empty()).then_some(emoji)
    };
    let (react, unreact, text) = (named(&form.react), named(&form.unreact), status.to_string());
    let need = match (&react, &unreact) {
        (Some(emoji), _) => ClientUse::React { status: &text, emoji },
        (None, Some(emoji)) => ClientUse::Unreact { status: &text, emoji },
        (None, None) => return Err(Error::missing("react").into()),
    };
    ask(cx, &actor, &part, need).await?;
    if form.part.unwrap_or_default() {
        return status_acts::part(&frame, &actor, status, form.back.as_deref()).await;
    }
    Ok(redirect(&back_to(form.back.as_deref(), Some(&format!("status-{status}")))))
}
