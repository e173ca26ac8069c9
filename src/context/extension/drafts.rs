//! Statuses that are about to be saved: extensions may change or refuse them, and define visibilities.

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::messages::Language;
use crate::{Cx, Result};
use model::status::LimitedScope;
use model::{AccountId, Actor, MediaId, PluginId, StatusId, Visibility};

/// Asks extensions about statuses that are about to be saved. The default of every method is the behaviour of a server without extensions.
#[async_trait]
pub trait FilterDrafts {
    /// True when some extension is asked about statuses before they are saved.
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

    /// What people read of a visibility that an extension defines: in `language`, else in English; `None` where it says nothing.
    fn visibility_title(&self, _word: &str, _language: Language) -> Option<String> {
        None
    }

    /// Asks every filter in turn about a status that is about to be saved; no transaction is open. `params` are the
    /// request's parameters that the core does not know, `visibility` is the word that the client sent.
    ///
    /// # Errors
    /// [`Error::Refused`](crate::Error::Refused) in the words of the extension that refuses,
    /// [`Error::Plugin`](crate::Error::Plugin) when one whose answer is needed gives none.
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
    /// Who gets it without being mentioned.
    pub recipients: Vec<AccountId>,
    /// A reply opens a new conversation.
    pub new_conversation: bool,
    /// The status that is edited.
    pub editing: Option<StatusId>,
    /// What extensions keep with it: JSON objects.
    pub extras: Vec<(PluginId, Value)>,
}
