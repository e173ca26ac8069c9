//! <https://docs.joinmastodon.org/entities/NotificationFallback/>: a notification in words, for clients that do not
//! know its type.
//!
//! Clients list the types that they know in `supported_types`; without the parameter no notification has a fallback.

use serde::{Deserialize, Serialize};

use context::Cx;
use context::error::{Error, Result};
use context::json::Fragment;
use context::messages::Language;
use model::notification::NotificationKind;
use model::{AccountId, Actor};
use service::notification::title;

/// All members are HTML.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct NotificationFallback {
    title: String,
    summary: Option<String>,
    details: Option<String>,
}

/// The types that a client knows, and the language of its user.
#[derive(Debug)]
pub struct Fallbacks<'a> {
    cx: &'a Cx,
    actor: &'a Actor,
    language: Language,
    supported: Vec<String>,
}

/// Members of a rendered account.
#[derive(Debug, Deserialize)]
struct Sender {
    id: AccountId,
    username: String,
    display_name: String,
}

impl<'a> Fallbacks<'a> {
    /// In the language of `actor`, otherwise of the request; `None` for a client that does not list its types.
    #[must_use]
    pub fn new(cx: &'a Cx, actor: &'a Actor, supported: Option<Vec<String>>) -> Option<Self> {
        let language = actor.locale.as_deref().and_then(Language::of).unwrap_or_else(|| cx.language());
        supported.map(|supported| Self { cx, actor, language, supported })
    }

    /// The fallback of a notification of the type `kind`, which the account rendered as `sender` caused; `None` when the
    /// client knows the type.
    ///
    /// # Errors
    /// When `sender` is not a rendered account, which is a bug.
    pub(crate) fn of(&self, kind: &NotificationKind, sender: &str) -> Result<Option<Fragment>> {
        if self.supported.iter().any(|known| known == kind.as_str()) {
            return Ok(None);
        }
        let sender: Sender = serde_json::from_str(sender).map_err(Error::internal)?;
        let name = if sender.display_name.trim().is_empty() { &sender.username } else { &sender.display_name };
        let title = title::sentence(self.cx, self.language, kind, sender.id == self.actor.id, name);
        let summary = Some(self.language.say("fallback.summary"));
        Fragment::of(&NotificationFallback { title: text::escape(&title), summary, details: None }).map(Some)
    }
}
