//! The states of a status of this server before it is written: [`Draft`] → [`Composed`] → [`Addressed`] → [`Ready`].
//!
//! Each owns the one before and adds to it; none changes anything in the database.

use super::address::{self, Audience};
use super::compose::{self, ComposedText};
use super::consent::NewRequest;
use super::draft::Draft;
use super::ready::Ready;
use super::reference::{self, ReferenceRequest};
use crate::poll::{self, CheckedPoll};
use context::Cx;
use context::error::Result;
use context::extension::PendingStatus;
use model::{Actor, PluginId, Status};
use serde_json::Value;

/// A draft whose text is rendered, completed by the author's preferences.
pub(super) struct Composed {
    draft: Draft,
    words: ComposedText,
    poll: Option<CheckedPoll>,
    sensitive: bool,
    language: Option<String>,
}

/// A composed draft with the status that it replies to and its audience.
pub(super) struct Addressed {
    composed: Composed,
    parent: Option<Status>,
    /// The request to reply that the parent needs.
    request: Option<NewRequest>,
    reach: Audience,
    /// Data of plugins.
    extras: Vec<(PluginId, Value)>,
}

impl Composed {
    /// Composes `draft`.
    ///
    /// # Errors
    /// [`Error::Invalid`](context::Error::Invalid) for a text or a poll that is not allowed,
    /// [`Error::UnexpectedMentions`](context::Error::UnexpectedMentions).
    pub(super) async fn of(cx: &Cx, actor: &Actor, draft: Draft) -> Result<Self> {
        let words = compose::words(cx, actor, draft.source()).await?;
        let poll = draft.poll.as_ref().map(poll::check).transpose()?;
        compose::check_mentions(&words, draft.allowed_mentions.as_deref())?;
        let sensitive = draft.sensitive.unwrap_or(actor.preferences.default_sensitive);
        let language = language(cx, actor, &draft, draft.language.as_deref());
        Ok(Self { draft, words, poll, sensitive, language })
    }

    /// Adds the audience that the author chose.
    ///
    /// # Errors
    /// As [`address::reach`].
    pub(super) async fn address(self, cx: &Cx, actor: &Actor) -> Result<Addressed> {
        let (parent, request, reach) = address::reach(cx, actor, &self.draft).await?;
        let extras = self.draft.extras.clone();
        Ok(Addressed { composed: self, parent, request, reach, extras })
    }
}

impl Addressed {
    /// Applies the changes of plugins' filters.
    ///
    /// # Errors
    /// As [`compose::filtered`].
    pub(super) async fn filter(self, cx: &Cx, actor: &Actor) -> Result<Self> {
        if !cx.extensions().filters_drafts() {
            return Ok(self);
        }
        let pending = self.pending();
        let Self { composed: Composed { draft, words, poll, .. }, parent, request: reply_request, .. } = self;
        let request = (draft.source(), &draft.params, draft.visibility.as_deref());
        let (words, pending) = compose::filtered(cx, actor, words, pending, request).await?;
        compose::check_mentions(&words, draft.allowed_mentions.as_deref())?;
        let language = language(cx, actor, &draft, pending.language.as_deref());
        let reach = Audience {
            visibility: pending.visibility,
            scope: pending.limited_scope,
            audience: pending.recipients,
            new_conversation: pending.new_conversation,
        };
        let composed = Composed { draft, words, poll, sensitive: pending.sensitive, language };
        Ok(Self { composed, parent, request: reply_request, reach, extras: pending.extras })
    }

    /// The status as plugins see it.
    fn pending(&self) -> PendingStatus {
        let (composed, draft, reach) = (&self.composed, &self.composed.draft, &self.reach);
        PendingStatus {
            text: composed.words.text.clone(),
            spoiler_text: composed.words.spoiler_text.clone(),
            visibility: reach.visibility,
            limited_scope: reach.scope,
            sensitive: composed.sensitive,
            language: composed.language.clone(),
            in_reply_to_id: draft.in_reply_to_id,
            media: draft.media_ids.clone(),
            recipients: reach.audience.clone(),
            new_conversation: reach.new_conversation,
            editing: None,
            extras: self.extras.clone(),
        }
    }

    /// Applies the word lists of the staff, settles the audience and resolves the references.
    ///
    /// # Errors
    /// [`Error::Invalid`](context::Error::Invalid) for a text or an audience that is not allowed, and the errors of
    /// [`reference::resolve`].
    pub(super) async fn ready(self, cx: &Cx, actor: &Actor) -> Result<Ready> {
        let Self { composed, parent, request: reply_request, reach, extras } = self;
        let Composed { draft, mut words, poll, mut sensitive, language } = composed;
        compose::moderate(cx, &mut words, poll.as_ref(), &mut sensitive)?;
        let reach = address::settle(cx, actor, reach, &words.mentions).await?;
        let request = ReferenceRequest {
            found: &words.references,
            named: &draft.status_reference_ids,
            quoted: draft.quoted_status_id,
        };
        let references = reference::resolve(cx, actor, request, None, None).await?;
        let reach = if references.is_for_followers() { reach.for_followers() } else { reach };
        let reach = address::hold_back(cx, actor, reach).await?;
        let request = reply_request;
        Ok(Ready { draft, words, poll, sensitive, language, extras, parent, request, references, reach, spent: None })
    }
}

/// The language of a status: `stated`, else by the author's preferences and request.
fn language(cx: &Cx, actor: &Actor, draft: &Draft, stated: Option<&str>) -> Option<String> {
    compose::language(cx, actor, stated, draft.request_language.as_deref())
}
