//! Writing: the form for a new status, a reply, a quote, an edit, and a redraft (delete and write again).
//!
//! Refused input stays in the form, uploaded files too. Every form has an idempotency key, so that sending it twice
//! publishes once.
//!
//! Spec: docs/contract/web.md, Writing

use std::collections::BTreeMap;

use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use minijinja::{Value, context};
use schemars::JsonSchema;
use serde::Deserialize;

use super::additions;
use super::publish_fields::{Fields, PollFields};
use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::{Params, Upload};
use crate::web::csrf::FormWithFiles;
use crate::web::settings::Frame;
use crate::web::{Page, redirect};
use context::extension::ClientKind;
use entity::web;
use model::{Actor, MediaAttachment, SavedDraftId, StatusId};
use service::media::moving::Processing;
use service::media::{self, MediaUpdate};
use service::poll::MAX_OPTIONS;
use service::status::{self, CreatedStatus, MediaOfDeleted};
use service::{preference, saved_draft, visibility};
use text::language;

/// How long polls run, in seconds.
const POLL_TIMES: [i64; 7] = [300, 1_800, 3_600, 21_600, 86_400, 259_200, 604_800];

/// Query parameters of the form: its initial values.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Start {
    /// The text.
    text: Option<String>,
    visibility: Option<String>,
    in_reply_to_id: Option<StatusId>,
    quoted_status_id: Option<StatusId>,
    /// A status of one's own to change.
    edit: Option<StatusId>,
    /// A status of one's own to redraft.
    redraft: Option<StatusId>,
    /// A draft that the server keeps.
    draft: Option<SavedDraftId>,
}

/// The files of the form: `file_1`, `file_2` and so on.
#[derive(Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(transparent)]
pub struct Files(BTreeMap<String, Upload>);

/// `GET /publish`
///
/// # Errors
/// [`Error::NotFound`] for a status that is hidden, or someone else's where it has to be one's own.
pub async fn show(frame: Frame, Params(start): Params<Start>) -> Result<Page> {
    let actor = frame.actor().await?;
    let (fields, media) = begin(&frame, &actor, start).await?;
    page(&frame, &actor, &fields, &media, None).await
}

/// The initial values of the form.
async fn begin(frame: &Frame, actor: &Actor, start: Start) -> Result<(Fields, Vec<MediaAttachment>)> {
    let cx = &frame.cx;
    if let Some(id) = start.draft {
        let saved = saved_draft::show(cx, actor, id).await?;
        return Ok((Fields::of_draft(id, saved.parameters), saved.media));
    }
    let mut fields = Fields {
        text: start.text,
        visibility: start.visibility.filter(|word| !word.is_empty()),
        in_reply_to_id: start.in_reply_to_id,
        quoted_status_id: start.quoted_status_id,
        edit: start.edit,
        redraft: start.redraft,
        sensitive: Some(actor.preferences.default_sensitive),
        idempotency_key: Some(crypto::random_text(16)),
        ..Fields::default()
    };
    if let Some(id) = fields.in_reply_to_id {
        let seen = visibility::status(cx, Some(actor), id).await?;
        let target = web::statuses(cx, Some(actor), None, &[seen]).await?.pop().ok_or(Error::NotFound)?;
        if fields.text.is_none() {
            let author = target.marks.as_ref().is_none_or(|marks| !marks.is_own).then_some(&target.author.acct);
            let named = author.into_iter().chain(target.mentions.iter().filter(|acct| **acct != target.author.acct));
            fields.text = Some(named.map(|acct| format!("@{acct} ")).collect());
        }
        fields.spoiler_text = Some(target.spoiler_text).filter(|text| !text.is_empty());
        fields.visibility = fields.visibility.or_else(|| Some(narrower(&target.visibility, actor)));
        fields.language = target.language;
    }
    let Some(id) = fields.edit.or(fields.redraft) else { return Ok((fields, Vec::new())) };
    let source = status::source(cx, Some(actor), id).await?;
    if source.account_id != actor.id {
        return Err(Error::NotFound.into());
    }
    let media = media::of_status(cx, actor, id).await?;
    let seen = visibility::status(cx, Some(actor), id).await?;
    let shown = web::statuses(cx, Some(actor), None, &[seen]).await?.pop().ok_or(Error::NotFound)?;
    let quoted = shown.quote.as_ref().and_then(|quote| Some(quote.status.as_ref()?.id));
    let poll = shown.poll.as_ref().map(|poll| PollFields {
        options: Some(poll.options.iter().map(|option| text::plain(&option.title_html)).collect()),
        expires_in: Some(86_400),
        multiple: Some(poll.multiple),
        hide_totals: None,
    });
    let fields = Fields {
        text: Some(source.text),
        spoiler_text: Some(source.spoiler_text),
        visibility: Some(shown.visibility),
        local_only: Some(shown.local_only),
        sensitive: Some(source.sensitive),
        language: source.language,
        in_reply_to_id: source.in_reply_to_id,
        quoted_status_id: quoted.filter(|_| fields.redraft.is_some()),
        poll,
        ..fields
    };
    Ok((fields, media))
}

/// The visibility of a reply to a status with the visibility `target`: not wider than it, and than one's own default.
fn narrower(target: &str, actor: &Actor) -> String {
    let order = ["public", "public_unlisted", "login", "unlisted", "private", "limited", "direct"];
    let own = actor.preferences.default_visibility.map_or("public", |visibility| visibility.as_str());
    let place = |word: &str| order.iter().position(|one| *one == word).unwrap_or_default();
    let word = if place(target) >= place(own) { target } else { own };
    // The audience of a limited status cannot be chosen by its name.
    if word == "limited" { "direct".to_owned() } else { word.to_owned() }
}

/// `POST /publish`: publishes, schedules or changes the status, and leads to it; the form again, with 422, when it is
/// refused, and with 200 when more is to be added.
///
/// # Errors
/// Errors of the server; faults of the status are shown in the form.
pub async fn create(
    frame: Frame,
    headers: HeaderMap,
    FormWithFiles { mut fields, files }: FormWithFiles<Fields, Files>,
) -> Result<Response> {
    let actor = frame.actor().await?;
    let (media, uploaded) = attachments(&frame, &actor, &mut fields, files).await?;
    let refused = match uploaded {
        Err(error) => Some(error),
        Ok(()) if fields.act.as_deref() == Some("save") => match save(&frame, &actor, &fields, &media).await {
            Ok(response) => return Ok(response),
            Err(error) => Some(error),
        },
        Ok(()) if fields.act.as_deref() != Some("publish") => {
            return Ok(page(&frame, &actor, &fields, &media, None).await?.into_response());
        }
        Ok(()) => match send(&frame, &actor, &headers, &mut fields, &media).await {
            Ok(response) => return Ok(response),
            Err(error) => Some(error),
        },
    };
    let Some(error) = refused else { return Err(Error::internal("a form that was neither sent nor refused").into()) };
    let (status, sentence) = refusal(&frame, error)?;
    let page = page(&frame, &actor, &fields, &media, Some(&sentence)).await?;
    Ok(page.with_status(status).into_response())
}

/// The refusal, as the form shows it.
///
/// # Errors
/// Errors that are not about the status.
fn refusal(frame: &Frame, error: Error) -> Result<(StatusCode, String)> {
    let status = match &error {
        Error::Invalid(_) | Error::Validation(_) | Error::BadRequest(_) | Error::Conflict(_) | Error::NotFound => {
            StatusCode::UNPROCESSABLE_ENTITY
        }
        Error::Forbidden(_) => StatusCode::FORBIDDEN,
        Error::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
        Error::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Error::Refused(refusal) if refusal.status < 500 => StatusCode::UNPROCESSABLE_ENTITY,
        _ => return Err(error.into()),
    };
    let words = error.to_string();
    Ok((status, frame.cx.language().say_error(&words).unwrap_or_else(|| sentence(&words))))
}

/// The words of the API as a sentence, without the names of parameters.
fn sentence(words: &str) -> String {
    let words = words.strip_prefix("Validation failed: ").unwrap_or(words);
    let is_parameter = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || matches!(c, '_' | '[' | ']'));
    let words = match words.split_once(": ") {
        Some((name, rest)) if is_parameter(name) => rest,
        _ => words,
    };
    let mut letters = words.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let rest = letters.as_str().replace('_', " ");
    first.collect::<String>() + rest.trim_end_matches('.') + "."
}

/// The attachments of the form, with the files that were sent, and why one of them was refused. The descriptions of
/// those that are new to the form are saved.
async fn attachments(
    frame: &Frame,
    actor: &Actor,
    fields: &mut Fields,
    Files(files): Files,
) -> Result<(Vec<MediaAttachment>, Result<(), Error>)> {
    let (cx, mut found) = (&frame.cx, Vec::new());
    let mut refused = Ok(());
    for sent in fields.media.take().unwrap_or_default() {
        let Some(id) = sent.id.filter(|_| !sent.remove.unwrap_or_default()) else { continue };
        let change = MediaUpdate {
            description: Some(sent.description.unwrap_or_default()),
            focus: sent.focus.filter(|focus| !focus.is_empty()),
            thumbnail: None,
        };
        // Those of a status that is edited change with it.
        let media = match fields.edit {
            Some(status) => match media::of_status(cx, actor, status).await?.into_iter().find(|media| media.id == id) {
                Some(media) => Ok(MediaAttachment { description: change.description, ..media }),
                None => media::update(cx, actor, id, change).await,
            },
            None => media::update(cx, actor, id, change).await,
        };
        match media {
            Ok(media) => found.push(media),
            // It was deleted meanwhile.
            Err(Error::NotFound) => {}
            Err(error) => refused = Err(error),
        }
    }
    let descriptions = fields.descriptions.take().unwrap_or_default();
    for (name, file) in files.into_iter().filter(|(name, _)| name.starts_with("file_")) {
        let upload = media::Upload {
            file: Some(file.path),
            thumbnail: None,
            description: descriptions.get(&name).filter(|text| !text.is_empty()).cloned(),
            focus: None,
        };
        match media::upload(cx, actor, upload, Processing::Later { attempt: 0 }).await {
            Ok(media) => found.push(media),
            Err(error) => refused = Err(error),
        }
    }
    Ok((found, refused))
}

/// Keeps the form as a draft on the server.
async fn save(frame: &Frame, actor: &Actor, fields: &Fields, media: &[MediaAttachment]) -> Result<Response, Error> {
    let saved = match saved_draft::save(&frame.cx, actor, fields.draft_id, fields.parameters(media)?).await {
        // It was deleted on another device meanwhile.
        Err(Error::NotFound) => saved_draft::save(&frame.cx, actor, None, fields.parameters(media)?).await?,
        saved => saved?,
    };
    if fields.part.unwrap_or_default() {
        return Ok(saved.draft.id.to_string().into_response());
    }
    Ok(frame.done("drafts.saved", "/drafts"))
}

/// Publishes, schedules or changes the status.
async fn send(
    frame: &Frame,
    actor: &Actor,
    headers: &HeaderMap,
    fields: &mut Fields,
    media: &[MediaAttachment],
) -> Result<Response, Error> {
    let cx = &frame.cx;
    if let Some(id) = fields.edit {
        status::edit(cx, actor, id, fields.edit_draft(media)?).await?;
        frame.cookies.notice(&frame.say("publish.edited"));
        return Ok(redirect(&cx.urls.status(&actor.username, id)));
    }
    let draft = fields.draft(headers, media)?;
    let at = fields.time()?;
    if let Some(id) = fields.redraft {
        // Refused before anything is lost; the files of the old one are needed for the new one.
        if media.is_empty() {
            status::validate(cx, actor, fields.draft(headers, media)?).await?;
        }
        match status::delete(cx, actor, id, MediaOfDeleted::Kept).await {
            Ok(()) | Err(Error::NotFound) => fields.redraft = None,
            Err(error) => return Err(error),
        }
    }
    match status::publish(cx, actor, draft, at).await? {
        CreatedStatus::Status(id) => {
            frame.cookies.notice(&frame.say("publish.published"));
            Ok(redirect(&cx.urls.status(&actor.username, id)))
        }
        CreatedStatus::Scheduled(_) => Ok(frame.done("publish.scheduled", "/scheduled")),
    }
}

/// The choices that extensions add to the form. One that gives no answer offers none.
async fn choices(cx: &Cx, actor: &Actor, fields: &Fields) -> Vec<Value> {
    let parts = cx.extensions().client_parts(cx.language()).into_iter();
    let mut choices = Vec::new();
    for part in parts.filter(|part| part.kind == ClientKind::Choice) {
        let field = part.field.clone().unwrap_or_default();
        match additions::things(cx, actor, &part).await {
            Ok(things) => choices.push(context! {
                title => part.title,
                visibility => part.visibility.as_deref().and_then(|word| cx.extensions().visibility_title(word, cx.language())),
                chosen => fields.rest.get(&field).and_then(serde_json::Value::as_str),
                field,
                things,
            }),
            Err(error) => tracing::warn!(extension = part.extension, ?error, "could not list the choices of a form"),
        }
    }
    choices
}

async fn page(
    frame: &Frame,
    actor: &Actor,
    fields: &Fields,
    media: &[MediaAttachment],
    error: Option<&str>,
) -> Result<Page> {
    let (cx, spoken) = (&frame.cx, frame.cx.language());
    let around: Vec<StatusId> = [fields.in_reply_to_id, fields.quoted_status_id].into_iter().flatten().collect();
    let seen = visibility::statuses(cx, Some(actor), visibility::Place::Single, &around).await?;
    let shown = web::statuses(cx, Some(actor), None, &seen).await?;
    let find = |id: Option<StatusId>| shown.iter().find(|status| Some(status.entry) == id);
    let disabled = &actor.preferences.disabled_visibilities;
    let offered = preference::visibilities(cx).into_iter().filter(|word| !disabled.contains(word));
    let offered = offered.filter(|word| !matches!(word.as_str(), "mutual" | "reply" | "limited"));
    let title = |word: &String| {
        let title = cx.extensions().visibility_title(word, spoken);
        [word.clone(), title.unwrap_or_else(|| spoken.say(&format!("visibility.{word}")))]
    };
    let visibilities: Vec<[String; 2]> = offered.map(|word| title(&word)).collect();
    let default = actor.preferences.default_visibility.map(|visibility| visibility.to_string());
    let default = default.unwrap_or_else(|| if actor.locked { "private" } else { "public" }.to_owned());
    let poll = fields.poll.clone().unwrap_or_default();
    let mut options = poll.options.clone().unwrap_or_default();
    options.resize(options.len().max(MAX_OPTIONS), String::new());
    let times: Vec<Value> =
        POLL_TIMES.iter().map(|time| context! { seconds => time, label => spoken.duration(*time) }).collect();
    let free = usize::try_from(cx.settings().max_media_attachments).unwrap_or_default().saturating_sub(media.len());
    let own = context! {
        error,
        text => fields.text,
        spoiler_text => fields.spoiler_text,
        visibility => fields.visibility.clone().unwrap_or(default),
        visibilities,
        local_only => fields.local_only,
        sensitive => fields.sensitive,
        language => fields.language.clone().or_else(|| actor.preferences.default_language.clone())
            .unwrap_or_else(|| spoken.code().to_owned()),
        languages => language::listed_in(spoken.code()),
        in_reply_to => find(fields.in_reply_to_id),
        in_reply_to_id => fields.in_reply_to_id,
        quoted => find(fields.quoted_status_id),
        quoted_status_id => fields.quoted_status_id,
        quote_approval_policy => fields.quote_approval_policy,
        policy => fields.policy,
        media => media.iter().map(|media| web::media(cx, media)).collect::<Result<Vec<_>, _>>()?,
        free_files => (1..=free).collect::<Vec<_>>(),
        poll => context! { multiple => poll.multiple, hide_totals => poll.hide_totals, expires_in => poll.expires_in.unwrap_or(86_400), options },
        has_poll => fields.poll().is_some(),
        poll_times => times,
        scheduled_at => fields.scheduled_at,
        offset => fields.offset,
        edit => fields.edit,
        redraft => fields.redraft,
        choices => choices(cx, actor, fields).await,
        draft_id => fields.draft_id,
        idempotency_key => fields.idempotency_key.clone().unwrap_or_else(|| crypto::random_text(16)),
        limit => cx.settings().max_characters,
        length => text::length(fields.text.as_deref().unwrap_or_default()) + fields.spoiler_text.as_deref().map_or(0, text::graphemes),
    };
    let title = match (fields.edit, fields.in_reply_to_id, fields.quoted_status_id) {
        (Some(_), _, _) => "publish.edit_title",
        (None, Some(_), _) => "publish.reply_title",
        (None, None, Some(_)) => "publish.quote_title",
        (None, None, None) => "publish.title",
    };
    frame.page("publish", title, "client/publish.html", context! { title => frame.say(title), ..own })
}

/// Query parameters of [`length`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Text {
    text: Option<String>,
    spoiler_text: Option<String>,
}

/// `POST /web/length`: how long a text counts, in characters, as publishing counts it.
pub async fn length(frame: Frame, crate::web::Form(sent): crate::web::Form<Text>) -> Response {
    let _ = frame;
    let length = text::length(sent.text.as_deref().unwrap_or_default())
        + text::graphemes(sent.spoiler_text.as_deref().unwrap_or_default());
    length.to_string().into_response()
}
