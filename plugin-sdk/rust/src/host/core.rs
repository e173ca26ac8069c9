//! Reads the server's data: statuses, accounts, relationships, emojis.

use super::{imports::core as host, numbers};
use crate::Result;
pub use crate::contract::core::Emoji;
use crate::contract::types::{Account, Relationship, Status, Viewer};

/// Statuses, in the order and length of `ids`; `None` where one does not exist or the viewer may not see it.
pub fn statuses<I: Copy + Into<i64>>(viewer: Viewer, ids: &[I]) -> Result<Vec<Option<Status>>> {
    Ok(host::statuses(viewer, &numbers(ids))?)
}

/// Accounts, in the order and length of `ids`; `None` where one does not exist.
pub fn accounts<I: Copy + Into<i64>>(ids: &[I]) -> Result<Vec<Option<Account>>> {
    Ok(host::accounts(&numbers(ids))?)
}

/// Accounts by `name` or `name@domain`, in the order and length of `accts`. Nothing is looked up on other servers.
pub fn accounts_by_acct(accts: &[String]) -> Result<Vec<Option<Account>>> {
    Ok(host::accounts_by_acct(accts)?)
}

/// The relationship of `of` to each of `others`.
pub fn relationships<I: Copy + Into<i64>>(of: impl Into<i64>, others: &[I]) -> Result<Vec<Relationship>> {
    Ok(host::relationships(of.into(), &numbers(others))?)
}

/// Whether the viewer may see each status.
pub fn visible<I: Copy + Into<i64>>(viewer: Viewer, ids: &[I]) -> Result<Vec<bool>> {
    Ok(host::visible(viewer, &numbers(ids))?)
}

/// The accounts in `among` that follow `of`.
pub fn followers_among<I: Copy + Into<i64>>(of: impl Into<i64>, among: &[I]) -> Result<Vec<i64>> {
    Ok(host::followers_among(of.into(), &numbers(among))?)
}

/// Resolves names of emojis, Unicode or custom; `None` where there is no such emoji.
pub fn emojis(names: &[String]) -> Result<Vec<Option<Emoji>>> {
    Ok(host::emojis(names)?)
}

/// Normalises each text as the server stores and compares it; `None` for one that is not valid.
pub fn normalise(kind: &str, texts: &[String]) -> Result<Vec<Option<String>>> {
    Ok(host::normalise(kind, texts)?)
}

/// Bits of [`Relationship`].
impl Relationship {
    fn bit(self, bit: u32) -> bool {
        self.bits & bit != 0
    }
    /// `of` follows the other account.
    #[must_use]
    pub fn following(self) -> bool {
        self.bit(1)
    }
    /// The other account follows `of`.
    #[must_use]
    pub fn followed_by(self) -> bool {
        self.bit(2)
    }
    /// `of` blocks the other account.
    #[must_use]
    pub fn blocking(self) -> bool {
        self.bit(4)
    }
    /// The other account blocks `of`.
    #[must_use]
    pub fn blocked_by(self) -> bool {
        self.bit(8)
    }
    /// `of` mutes the other account.
    #[must_use]
    pub fn muting(self) -> bool {
        self.bit(16)
    }
    /// `of` blocks the domain of the other account.
    #[must_use]
    pub fn domain_blocking(self) -> bool {
        self.bit(64)
    }
}

/// Bits of [`Account::state`].
impl Account {
    /// Suspended by moderators.
    #[must_use]
    pub fn suspended(&self) -> bool {
        self.state & 1 != 0
    }
    /// Silenced (limited) by moderators: reaches only its followers.
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
