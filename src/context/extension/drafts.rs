//! Statuses that are about to be saved: extensions may change or refuse them, and define visibilities.

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::messages::Language;
use crate::{Cx, Result};
use model::status::LimitedScope;
use model::{AccountId, Actor, MediaId, PluginId, StatusId, Visibility};

/// Filters of extensions for statuses that are about to be saved. The default of every method is the behaviour of a
/// server without extensions.
#[async_trait]
pub trait FilterDrafts {
    /// True when some extension filters statuses before they are saved.
    fn filters_drafts(&self) -> bool {
        false
    }

    /// True when `word` is a visibility that an extension defines: the status is limited, and the extension chooses its audience.
    fn owns_visibility(&self, word: &str) -> bool {
        self.visibilities().iter().any(|own| own == word)
    }

    /// The visibilities that extensions define.
    fn visibilities(&self) -> Vec<String> {
        Vec::new()
    }

    /// The title of a visibility that an extension defines: in `language`, otherwise in English; `None` if the
    /// extension declares no title.
    fn visibility_title(&self, _word: &str, _language: Language) -> Option<String> {
        None
    }

    /// Calls every filter in order with a status that is about to be saved; no transaction is open. `params` are the
    /// request's parameters that the core does not know, `visibility` is the value that the client sent.
    ///
    /// # Errors
    /// [`Error::Refused`](crate::Error::Refused) with the message of the rejecting extension,
    /// [`Error::Plugin`](crate::Error::Plugin) when a required extension does not respond.
    async fn filter_draft(
        &self,
        _cx: &Cx,
        _actor: &Actor,
        draft: PendingStatus,
        _params: &Map<String, Value>,
        _visibility: Option<&str>,
    ) -> Result<PendingStatus> {
        Ok(draft)
    }
}

/// A status that is about to be saved: the contract's draft.
#[derive(Clone, Debug)]
pub struct PendingStatus {
    pub text: String,
    pub spoiler_text: String,
    pub visibility: Visibility,
    pub limited_scope: Option<LimitedScope>,
    pub sensitive: bool,
    pub language: Option<String>,
    pub in_reply_to_id: Option<StatusId>,
    pub media: Vec<MediaId>,
    /// Recipients who are not mentioned.
    pub recipients: Vec<AccountId>,
    /// A reply opens a new conversation.
    pub new_conversation: bool,
    /// The status being edited.
    pub editing: Option<StatusId>,
    /// Data that extensions store with the status: JSON objects.
    pub extras: Vec<(PluginId, Value)>,
}
