//! A status in another language, by the translation service of the server.

use axum::http::{HeaderMap, header};
use minijinja::context;
use serde::Deserialize;

use crate::error::{Error, Result};
use crate::extract::Path;
use crate::web::Page;
use crate::web::settings::Frame;
use entity::web;
use model::StatusId;
use service::{translation, visibility};

/// A translation in JSON, as far as the page shows it.
#[derive(Debug, Deserialize)]
struct Translated {
    language: String,
    provider: String,
    spoiler_text: String,
    content: String,
    poll: Option<TranslatedPoll>,
}

#[derive(Debug, Deserialize)]
struct TranslatedPoll {
    options: Vec<TranslatedOption>,
}

#[derive(Debug, Deserialize)]
struct TranslatedOption {
    title: String,
}

/// `GET /@{name}/{id}/translation`: in the language of the page.
///
/// # Errors
/// As [`translation::translate`].
pub async fn show(frame: Frame, Path((_, id)): Path<(String, StatusId)>, headers: HeaderMap) -> Result<Page> {
    let (cx, viewer) = (&frame.cx, frame.actor().await?);
    let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    let seen = visibility::status(cx, Some(&viewer), id).await?;
    let made = translation::translate(cx, &viewer, id, Some(cx.language().code()), accepted).await?;
    let json = entity::translation::render(&made.1)?;
    let translated: Translated = serde_json::from_str(json.as_str()).map_err(Error::internal)?;
    let own = context! {
        status => web::statuses(cx, Some(&viewer), None, &[seen]).await?.pop().ok_or(Error::NotFound)?,
        content_html => translated.content,
        spoiler_text => translated.spoiler_text,
        options => translated.poll.map(|poll| poll.options.into_iter().map(|one| one.title).collect::<Vec<_>>()),
        language => translated.language,
        provider => translated.provider,
    };
    frame.page("status", "translation.title", "client/translation.html", own)
}
