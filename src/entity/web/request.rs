//! Requests to interact with a person's statuses, on the page where that person decides about them.
//!
//! Spec: docs/contract/rules.md#10-statuses, Interaction policies

use std::collections::HashMap;

use serde::Serialize;

use super::account::with_emojis;
use super::author::{Author, authors};
use super::clip::clip;
use super::status::statuses;
use super::view::WebStatus;
use context::Cx;
use context::error::Result;
use context::messages::Language;
use model::{AccountId, Actor, InteractionKind, RowId, StatusId};
use service::status::decision::ShownRequest;
use service::visibility::{self, Place};

/// Longest excerpt of a status that others interact with, in characters.
const EXCERPT_CHARS: usize = 140;

/// A request, and the account that made it.
#[derive(Clone, Debug, Serialize)]
pub struct WebRequest {
    pub id: RowId,
    pub kind: InteractionKind,
    pub account: Author,
    pub target: WebTarget,
    /// The reply or quote; `None` for other kinds, and while it is not known on this server.
    pub status: Option<WebStatus>,
}

/// The status that is quoted, replied to, marked or reblogged.
#[derive(Clone, Debug, Serialize)]
pub struct WebTarget {
    pub url: String,
    /// The first words, or the content warning in their place.
    pub words_html: String,
}

/// Builds a page of requests to `actor`, in the order given, with a few statements for all of them. Requests of accounts
/// that were suspended or deleted meanwhile are left out.
///
/// # Errors
/// When the database fails.
pub async fn requests(cx: &Cx, actor: &Actor, page: &[ShownRequest]) -> Result<Vec<WebRequest>> {
    let accounts: Vec<AccountId> = page.iter().map(|one| one.request.account_id).collect();
    let accounts: HashMap<AccountId, Author> =
        authors(cx, Some(actor), &accounts).await?.into_iter().map(|author| (author.id, author)).collect();
    let targets: Vec<StatusId> = page.iter().map(|one| one.request.target_id).collect();
    let interacting: Vec<StatusId> = page.iter().filter_map(text_of).collect();
    let mut seen = visibility::statuses(cx, Some(actor), Place::Single, &targets).await?;
    // The author who decides about a request sees its text.
    seen.extend(visibility::everything(cx, &interacting).await?);
    seen.sort_unstable_by_key(|seen| seen.head().id);
    seen.dedup_by_key(|seen| seen.head().id);
    let shown: HashMap<StatusId, WebStatus> =
        statuses(cx, Some(actor), None, &seen).await?.into_iter().map(|status| (status.id, status)).collect();
    let request = |one: &ShownRequest| {
        let target = shown.get(&one.request.target_id)?;
        Some(WebRequest {
            id: one.request.id,
            kind: one.request.kind,
            account: accounts.get(&one.request.account_id)?.clone(),
            target: WebTarget { url: target.url.clone(), words_html: with_emojis(cx, &excerpt(cx.language(), target)) },
            status: text_of(one).and_then(|id| shown.get(&id)).cloned(),
        })
    };
    Ok(page.iter().filter_map(request).collect())
}

/// The reply or quote that a request is about.
fn text_of(one: &ShownRequest) -> Option<StatusId> {
    match one.request.kind {
        InteractionKind::Reply | InteractionKind::Quote => one.status,
        InteractionKind::Favourite | InteractionKind::Reblog => None,
    }
}

/// The first words of a status, in plain text: the content warning, where it has one.
fn excerpt(language: Language, status: &WebStatus) -> String {
    let words = if status.spoiler_text.is_empty() { status.words() } else { status.spoiler_text.clone() };
    let words = words.trim();
    if words.is_empty() { status.title(language) } else { clip(words, EXCERPT_CHARS) }
}
