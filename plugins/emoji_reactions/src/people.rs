//! The settings of authors and readers, and of the admin.

use std::collections::HashMap;

use rookery_plugin::prelude::*;

use crate::policy::{Author, Policy};

/// The admin's configuration.
#[derive(Debug, Deserialize)]
pub(crate) struct Config {
    pub(crate) enable_emoji_reaction: bool,
    pub(crate) emoji_reaction_disallow_domains: Vec<String>,
    pub(crate) streaming_local_emoji_reaction: bool,
}

/// The settings of a local account.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Settings {
    pub(crate) emoji_reaction_policy: String,
    pub(crate) enable_emoji_reaction: bool,
    pub(crate) emoji_reaction_streaming_notify_impl2: bool,
    pub(crate) stop_emoji_reaction_streaming: bool,
    pub(crate) slip_local_emoji_reaction: bool,
}

impl Settings {
    /// The person as an author.
    pub(crate) fn author(&self, id: i64) -> Author {
        let policy = self.emoji_reaction_policy.parse().unwrap_or_default();
        Author { id, local: true, policy, slip_local: self.slip_local_emoji_reaction }
    }
}

/// The settings of people of this server, by account.
///
/// # Errors
/// The host's.
pub(crate) fn settings_of(accounts: &[i64]) -> Result<HashMap<i64, Settings>> {
    if accounts.is_empty() {
        return Ok(HashMap::new());
    }
    Ok(accounts.iter().copied().zip(settings::get(accounts)?).collect())
}

/// The public settings of an account that are used here.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Published {
    other_settings: OtherSettings,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OtherSettings {
    emoji_reaction_policy: Option<String>,
}

impl Config {
    /// An author of another server, from their public settings. Reactions to authors of servers that the admin named
    /// are refused.
    ///
    /// # Errors
    /// When the account's further members are no JSON.
    pub(crate) fn author(&self, account: &Account) -> Result<Author> {
        let published: Published = match &account.extra {
            Some(extra) => serde_json::from_str(extra)?,
            None => Published::default(),
        };
        let named = published.other_settings.emoji_reaction_policy.and_then(|word| word.parse().ok());
        let domain = account.domain.as_deref().unwrap_or_default();
        let refused = self.emoji_reaction_disallow_domains.iter().any(|refused| refused.eq_ignore_ascii_case(domain));
        let policy = if refused { Policy::Block } else { named.unwrap_or_default() };
        Ok(Author { id: account.id, local: account.domain.is_none(), policy, slip_local: false })
    }
}
