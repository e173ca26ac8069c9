//! People on web pages: the authors of statuses, and accounts in lists.

use serde::Serialize;

use super::source::{AccountSource, drawn};
use crate::account;
use context::Cx;
use context::error::{Error, Result};
use model::{AccountId, Actor};

/// The author of a status, or an account in a list.
#[derive(Clone, Debug, Serialize)]
pub struct Author {
    pub id: AccountId,
    pub display_name: String,
    pub display_name_html: String,
    pub acct: String,
    pub url: String,
    pub avatar: String,
    /// Excluded from search engines.
    #[serde(skip)]
    pub noindex: bool,
    /// The statuses may be indexed by search engines.
    #[serde(skip)]
    pub indexable: bool,
    pub locked: bool,
    pub bot: bool,
    pub group: bool,
}

impl AccountSource {
    /// The account in a list. A `viewer` stays on this server, others are led to the server of the account.
    pub(crate) fn author(self, has_viewer: bool) -> Author {
        let remote = self.acct.contains('@');
        let name = if self.display_name.is_empty() { &self.username } else { &self.display_name };
        Author {
            id: self.id,
            display_name_html: drawn(&text::escape(name), &self.emojis),
            display_name: name.clone(),
            url: match self.url {
                Some(url) if !(remote && has_viewer) => url,
                None if !(remote && has_viewer) => self.uri,
                Some(_) | None => format!("/@{}", self.acct),
            },
            acct: self.acct,
            avatar: self.avatar,
            noindex: self.noindex || self.limited,
            indexable: self.indexable,
            locked: self.locked,
            bot: self.bot,
            group: self.group,
        }
    }
}

/// Builds the authors of `ids` without suspended accounts, in the order given. A `viewer` stays on this server.
///
/// # Errors
/// As [`account::render`].
pub async fn authors(cx: &Cx, viewer: Option<&Actor>, ids: &[AccountId]) -> Result<Vec<Author>> {
    authors_of(viewer, account::render(cx, ids).await?.as_str())
}

/// Builds authors from a JSON array of accounts, without suspended ones.
///
/// # Errors
/// [`Error::Internal`], which is a bug.
pub fn authors_of(viewer: Option<&Actor>, json: &str) -> Result<Vec<Author>> {
    let sources: Vec<AccountSource> = serde_json::from_str(json).map_err(Error::internal)?;
    let there = sources.into_iter().filter(|source| !source.suspended);
    Ok(there.map(|source| source.author(viewer.is_some())).collect())
}

/// The relationship of `viewer` with `target`, as its entity: a value for templates.
///
/// # Errors
/// As [`render_one`](crate::relationship::render_one).
pub async fn relationship(cx: &Cx, viewer: &Actor, target: AccountId) -> Result<serde_json::Value> {
    let json = crate::relationship::render_one(cx, viewer, target).await?;
    serde_json::from_str(json.as_str()).map_err(Error::internal)
}
