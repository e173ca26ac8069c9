//! Statuses that people mark in ways that extensions know: for searches, and against automatic deletion.

use std::collections::{BTreeMap, HashSet};

use async_trait::async_trait;

use crate::messages::Language;
use crate::{Cx, Result};
use model::{AccountId, PluginId, StatusId};

/// Asks extensions which statuses a person marked. The default of every method is the behaviour of a server without extensions.
#[async_trait]
pub trait FindMarked {
    /// The values of the search operator `my:` that extensions serve: each is a way in which people mark statuses.
    fn search_words(&self) -> Vec<String> {
        Vec::new()
    }

    /// The subset of `statuses` that `viewer` marked in the way of `word`, or in any way that extensions know. One statement
    /// for each extension.
    ///
    /// # Errors
    /// [`Error::Plugin`](crate::Error::Plugin) when the extension that `word` belongs to cannot say. Without a word such an
    /// extension is left out.
    async fn marked(
        &self,
        _cx: &Cx,
        _viewer: AccountId,
        _word: Option<&str>,
        _statuses: &[StatusId],
    ) -> Result<HashSet<StatusId>> {
        Ok(HashSet::new())
    }

    /// The statuses of `page` that `viewer` marked in the way that `word` stands for, or in any, in the order of the page.
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

/// Asks extensions which statuses automatic deletion must leave. The default of every method is the behaviour of a server without extensions.
#[async_trait]
pub trait ExceptFromCleanup {
    /// The exceptions of automatic deletion that extensions offer to people, sorted by their names.
    fn cleanup_exceptions(&self) -> Vec<CleanupException> {
        Vec::new()
    }

    /// The subset of `statuses`, written by `account`, that an exception keeps from automatic deletion: one of `chosen`, names
    /// of exceptions with the number that was chosen, 1 where none is. No transaction is open.
    ///
    /// # Errors
    /// [`Error::Plugin`](crate::Error::Plugin) when the extension of one of them cannot say: nothing may be deleted then.
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
    /// Most statuses.
    pub limit: i64,
    /// From the oldest on.
    pub oldest_first: bool,
}

/// An exception of automatic deletion that an extension offers to people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanupException {
    pub plugin: PluginId,
    /// Its name, unique among all extensions: `emoji_reactions.own`.
    pub name: String,
    /// The label of the setting by language, English among them.
    pub titles: BTreeMap<String, String>,
    /// The person gives a number; otherwise it holds or does not.
    pub counts: bool,
    /// It holds for people who did not choose.
    pub default: bool,
}

impl CleanupException {
    /// The label in `language`.
    #[must_use]
    pub fn title(&self, language: Language) -> &str {
        self.titles.get(language.code()).or_else(|| self.titles.get("en")).map_or("", String::as_str)
    }
}
