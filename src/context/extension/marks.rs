//! Marks that extensions define on statuses: for searches, and as exceptions of automatic deletion.

use std::collections::{BTreeMap, HashSet};

use async_trait::async_trait;

use crate::messages::Language;
use crate::{Cx, Result};
use model::{AccountId, PluginId, StatusId};

/// Statuses that a person marked, as extensions define marks. The default of every method is the behaviour of a
/// server without extensions.
#[async_trait]
pub trait FindMarked {
    /// The values of the search operator `my:` that extensions serve: each names a kind of mark.
    fn search_words(&self) -> Vec<String> {
        Vec::new()
    }

    /// The subset of `statuses` that `viewer` marked with the mark `word`, or with any mark of extensions. One
    /// statement for each extension.
    ///
    /// # Errors
    /// [`Error::Plugin`](crate::Error::Plugin) when the extension that owns `word` does not respond. Without a word
    /// such an extension is left out.
    async fn marked(
        &self,
        _cx: &Cx,
        _viewer: AccountId,
        _word: Option<&str>,
        _statuses: &[StatusId],
    ) -> Result<HashSet<StatusId>> {
        Ok(HashSet::new())
    }

    /// The statuses of `page` that `viewer` marked with the mark `word`, or with any mark, in the order of the page.
    ///
    /// # Errors
    /// As [`FindMarked::marked`].
    async fn list_marked(
        &self,
        _cx: &Cx,
        _viewer: AccountId,
        _word: Option<&str>,
        _page: MarkedPage,
    ) -> Result<Vec<StatusId>> {
        Ok(Vec::new())
    }
}

/// Exceptions of automatic deletion that extensions define. The default of every method is the behaviour of a server
/// without extensions.
#[async_trait]
pub trait ExceptFromCleanup {
    /// The exceptions of automatic deletion that extensions offer to users, sorted by name.
    fn cleanup_exceptions(&self) -> Vec<CleanupException> {
        Vec::new()
    }

    /// The subset of `statuses`, written by `account`, that an exception excludes from automatic deletion: one of
    /// `chosen`, names of exceptions with the chosen number, 1 for exceptions without a number. No transaction is
    /// open.
    ///
    /// # Errors
    /// [`Error::Plugin`](crate::Error::Plugin) when the extension of one of them does not respond: nothing may be
    /// deleted then.
    async fn kept_from_cleanup(
        &self,
        _cx: &Cx,
        _account: AccountId,
        _chosen: &BTreeMap<String, i64>,
        _statuses: &[StatusId],
    ) -> Result<HashSet<StatusId>> {
        Ok(HashSet::new())
    }
}

/// A page of marked statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkedPage {
    /// Statuses after this one.
    pub after: StatusId,
    /// Statuses before this one.
    pub before: StatusId,
    pub limit: i64,
    /// Ascending order, from the oldest status.
    pub oldest_first: bool,
}

/// An exception of automatic deletion that an extension offers to users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanupException {
    pub plugin: PluginId,
    /// Its name, unique among all extensions: `emoji_reactions.own`.
    pub name: String,
    /// The label of the setting by language; English is always present.
    pub titles: BTreeMap<String, String>,
    /// The setting is a number; otherwise it is a switch.
    pub counts: bool,
    /// It applies to users who did not choose.
    pub default: bool,
}

impl CleanupException {
    /// The label in `language`.
    #[must_use]
    pub fn title(&self, language: Language) -> &str {
        self.titles.get(language.code()).or_else(|| self.titles.get("en")).map_or("", String::as_str)
    }
}
