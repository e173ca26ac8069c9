//! Reads what the server knows.

use serde_json::Value;

use super::{imports::core as host, numbers};
use crate::Result;
pub use crate::contract::core::Emoji;
use crate::contract::types::{Account, Page, Relationship, Status, Viewer};

/// Same order and length as asked for; `None` where there is none or the viewer may not see it.
///
/// # Errors
/// The host's.
pub fn statuses<I: Copy + Into<i64>>(viewer: Viewer, ids: &[I]) -> Result<Vec<Option<Status>>> {
    Ok(host::statuses(viewer, &numbers(ids))?)
}

/// Same order and length as asked for.
///
/// # Errors
/// The host's.
pub fn accounts<I: Copy + Into<i64>>(ids: &[I]) -> Result<Vec<Option<Account>>> {
    Ok(host::accounts(&numbers(ids))?)
}

/// By `name` or `name@domain`.
///
/// # Errors
/// The host's.
pub fn accounts_by_acct(accts: &[String]) -> Result<Vec<Option<Account>>> {
    Ok(host::accounts_by_acct(accts)?)
}

/// What `of` is to each of `others`.
///
/// # Errors
/// The host's.
pub fn relationships<I: Copy + Into<i64>>(of: impl Into<i64>, others: &[I]) -> Result<Vec<Relationship>> {
    Ok(host::relationships(of.into(), &numbers(others))?)
}

/// Whether the viewer may see each status.
///
/// # Errors
/// The host's.
pub fn visible<I: Copy + Into<i64>>(viewer: Viewer, ids: &[I]) -> Result<Vec<bool>> {
    Ok(host::visible(viewer, &numbers(ids))?)
}

/// Those of `among` that follow `of`.
///
/// # Errors
/// The host's.
pub fn followers_among<I: Copy + Into<i64>>(of: impl Into<i64>, among: &[I]) -> Result<Vec<i64>> {
    Ok(host::followers_among(of.into(), &numbers(among))?)
}

/// The ids of a timeline's page.
///
/// # Errors
/// The host's.
pub fn timeline(viewer: Viewer, name: &str, page: Page) -> Result<Vec<i64>> {
    Ok(host::timeline(viewer, name, page)?)
}

/// The JSON that clients would see. Rather answer with ids.
///
/// # Errors
/// The host's.
pub fn render<I: Copy + Into<i64>>(viewer: Viewer, kind: &str, ids: &[I]) -> Result<Value> {
    Ok(serde_json::from_str(&host::render(viewer, kind, &numbers(ids))?)?)
}

/// What each name means: a Unicode emoji or a custom one.
///
/// # Errors
/// The host's.
pub fn emojis(names: &[String]) -> Result<Vec<Option<Emoji>>> {
    Ok(host::emojis(names)?)
}

/// Each text as the server stores and compares it.
///
/// # Errors
/// The host's.
pub fn normalise(kind: &str, texts: &[String]) -> Result<Vec<Option<String>>> {
    Ok(host::normalise(kind, texts)?)
}

/// Bits of [`Relationship`].
impl Relationship {
    fn bit(self, bit: u32) -> bool {
        self.bits & bit != 0
    }
    /// `of` follows it.
    #[must_use]
    pub fn following(self) -> bool {
        self.bit(1)
    }
    /// It follows `of`.
    #[must_use]
    pub fn followed_by(self) -> bool {
        self.bit(2)
    }
    /// `of` blocks it.
    #[must_use]
    pub fn blocking(self) -> bool {
        self.bit(4)
    }
    /// It blocks `of`.
    #[must_use]
    pub fn blocked_by(self) -> bool {
        self.bit(8)
    }
    /// `of` mutes it.
    #[must_use]
    pub fn muting(self) -> bool {
        self.bit(16)
    }
    /// `of` blocks its server.
    #[must_use]
    pub fn domain_blocking(self) -> bool {
        self.bit(64)
    }
}

/// Bits of [`Account::state`].
impl Account {
    /// Moderators suspended it.
    #[must_use]
    pub fn suspended(&self) -> bool {
        self.state & 1 != 0
    }
    /// Moderators silenced it: only followers hear of it.
    #[must_use]
    pub fn silenced(&self) -> bool {
        self.state & 2 != 0
    }
}

#[cfg(test)]
mod tests {
    use crate::test::account;

    #[test]
    fn the_state_of_an_account_has_names() {
        let mut one = account(1, "alice");
        assert!(!one.suspended() && !one.silenced());
        one.state = 2;
        assert!(!one.suspended() && one.silenced());
        one.state = 1 | 8;
        assert!(one.suspended() && !one.silenced());
    }
}
