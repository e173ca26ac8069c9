//! Completions of a word in the text: people, hashtags and emojis.

use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::extract::Params;
use crate::web::settings::Frame;
use context::json::Fragment;
use entity::{emoji, web};
use service::search::{self, Query};

/// Most suggestions.
const MOST: i64 = 8;

/// Query parameters of [`show`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Begun {
    /// The word, with its first character: `@` for people, `#` for hashtags, `:` for emojis.
    q: Option<String>,
}

/// A suggestion.
#[derive(Debug, Serialize)]
pub struct Completion {
    /// The replacement of the word.
    value: String,
    /// Its name for people.
    name: String,
    /// The address of a small picture of this server or its storage.
    picture: Option<String>,
}

/// `GET /web/completions?q=`: a JSON array of [`Completion`], the best ones first; none for a word that begins with another character.
pub async fn show(frame: Frame, Params(begun): Params<Begun>) -> Result<Response> {
    let (cx, viewer) = (&frame.cx, frame.actor().await?);
    let q = begun.q.unwrap_or_default();
    let query = |kind: &str, word: &str| Query {
        q: word.to_owned(),
        kind: Some(kind.to_owned()),
        limit: MOST,
        ..Query::default()
    };
    let found: Vec<Completion> = match (q.chars().next(), q.get(1..).filter(|word| !word.is_empty())) {
        (Some('@'), Some(word)) => {
            let found = search::search(cx, Some(&viewer), &query("accounts", word)).await?;
            let people = web::authors(cx, Some(&viewer), &found.accounts).await?.into_iter();
            people
                .map(|person| Completion {
                    value: format!("@{}", person.acct),
                    name: person.display_name,
                    picture: Some(person.avatar),
                })
                .collect()
        }
        (Some('#'), Some(word)) => {
            let found = search::search(cx, Some(&viewer), &query("hashtags", word)).await?;
            let tags = found.hashtags.into_iter();
            tags.map(|tag| Completion { value: format!("#{}", tag.display_name), name: tag.name, picture: None })
                .collect()
        }
        (Some(':'), Some(word)) => emoji::named(cx, word, MOST)
            .into_iter()
            .map(|emoji| Completion {
                value: format!(":{}:", emoji.shortcode),
                name: emoji.shortcode,
                picture: Some(emoji.static_url),
            })
            .collect(),
        _ => Vec::new(),
    };
    let headers =
        [(header::CONTENT_TYPE, "application/json; charset=utf-8"), (header::CACHE_CONTROL, "private, no-store")];
    Ok((headers, Fragment::of(&found)?.into_string()).into_response())
}
