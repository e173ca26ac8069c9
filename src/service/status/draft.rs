//! A status as sent by its author: to be published, or as the new content of an existing one.
//!
//! The caller fills it from a request; it is not validated yet.

use serde_json::{Map, Value};

use super::compose::{ComposedText, Source};
use super::saved_draft;
use crate::media;
use crate::poll::PollDraft;
use context::extension::PendingStatus;
use model::account::Searchability;
use model::interaction::{InteractionKind, InteractionPolicy, PolicyRules};
use model::status::QuotePolicy;
use model::{AccountId, MediaId, PluginId, SavedDraftId, Status, StatusId};

/// A status to publish, as sent.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    pub text: String,
    pub spoiler_text: String,
    /// `None`: the preference of the author.
    pub sensitive: Option<bool>,
    pub visibility: Option<String>,
    /// Whether it stays on this server.
    pub local_only: bool,
    pub searchability: Option<Searchability>,
    pub language: Option<String>,
    /// The request's `Accept-Language`.
    pub request_language: Option<String>,
    pub in_reply_to_id: Option<StatusId>,
    pub media_ids: Vec<MediaId>,
    /// Statuses to refer to besides those in the text.
    pub status_reference_ids: Vec<StatusId>,
    /// The status to quote; `None`: the quote in the text, if any.
    pub quoted_status_id: Option<StatusId>,
    /// `None`: the preference of the author.
    pub quote_approval_policy: Option<QuotePolicy>,
    /// The rules that are left out are the preference of the author.
    pub interaction_policy: PolicyRules,
    pub poll: Option<PollDraft>,
    /// Whether the text is Markdown.
    pub markdown: bool,
    /// Accounts the client expects to be mentioned; `None`: anyone.
    pub allowed_mentions: Option<Vec<AccountId>>,
    pub idempotency_key: Option<String>,
    /// The saved draft that it was made from, which is deleted with the publication; one that is not the author's is
    /// ignored.
    pub saved_draft_id: Option<SavedDraftId>,
    /// Parameters unknown to the server, which plugins may have declared.
    pub params: Map<String, Value>,
    /// The accounts that the publishing plugin adds to the audience without a visible mention.
    pub recipients: Option<Vec<AccountId>>,
    /// Data that plugins store with it: JSON objects.
    pub extras: Vec<(PluginId, Value)>,
}

impl From<saved_draft::Parameters> for Draft {
    /// A status with these fields of the form.
    fn from(form: saved_draft::Parameters) -> Self {
        Self {
            text: form.text,
            spoiler_text: form.spoiler_text,
            sensitive: form.sensitive,
            visibility: form.visibility,
            local_only: form.local_only,
            searchability: form.searchability,
            language: form.language,
            in_reply_to_id: form.in_reply_to_id,
            quoted_status_id: form.quoted_status_id,
            media_ids: form.media_ids,
            poll: form.poll,
            markdown: form.markdown,
            quote_approval_policy: form.quote_approval_policy,
            interaction_policy: form.interaction_policy,
            ..Self::default()
        }
    }
}

impl Draft {
    pub(super) fn source(&self) -> Source<'_> {
        let has_media = !self.media_ids.is_empty();
        Source { text: &self.text, spoiler_text: &self.spoiler_text, has_media, markdown: self.markdown }
    }
}

/// The new content of a status.
#[derive(Debug, Default)]
pub struct EditDraft {
    pub text: String,
    pub spoiler_text: String,
    pub sensitive: bool,
    pub language: Option<String>,
    pub media_ids: Vec<MediaId>,
    pub media_attributes: Vec<(MediaId, media::MediaUpdate)>,
    pub poll: Option<PollDraft>,
    /// Whether the text is Markdown.
    pub markdown: bool,
    /// `None`: unchanged.
    pub quote_approval_policy: Option<QuotePolicy>,
    /// The rules that are left out are unchanged.
    pub interaction_policy: PolicyRules,
    /// Parameters unknown to the server, which plugins may have declared.
    pub params: Map<String, Value>,
}

impl EditDraft {
    pub(super) fn source(&self) -> Source<'_> {
        let has_media = !self.media_ids.is_empty();
        Source { text: &self.text, spoiler_text: &self.spoiler_text, has_media, markdown: self.markdown }
    }

    /// The edit of `old` as plugins see it. They cannot change the audience, which was fixed when the status was
    /// published.
    pub(super) fn pending(&self, old: &Status, words: &ComposedText, language: Option<String>) -> PendingStatus {
        PendingStatus {
            text: words.text.clone(),
            spoiler_text: words.spoiler_text.clone(),
            visibility: old.visibility,
            limited_scope: old.limited_scope,
            sensitive: self.sensitive,
            language,
            in_reply_to_id: old.in_reply_to_id,
            media: self.media_ids.clone(),
            recipients: Vec::new(),
            new_conversation: false,
            editing: Some(old.id),
            extras: Vec::new(),
        }
    }
}

/// `policy` with what a request changes.
pub(super) fn changed(policy: InteractionPolicy, rules: PolicyRules, quotes: Option<QuotePolicy>) -> InteractionPolicy {
    let policy = quotes.map_or(policy, |quotes| policy.with(InteractionKind::Quote, quotes.into()));
    policy.with_rules(rules)
}
