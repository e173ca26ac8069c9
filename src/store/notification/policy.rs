//! Notification policies: how each receiver handles notifications from some kinds of senders.
//!
//! Reached from `service::notification::policy`, which interprets the values. Accounts that never set a policy have
//! no row.

use database::{Conn, Result, Tx, sql};
use model::notification::{Policy, PolicyAction};
use model::{AccountId, boxed};

/// The columns of [`PolicyRow`], from a table with the alias `y`.
macro_rules! policy_columns {
    () => {
        "y.for_not_following, y.for_not_followers, y.for_new_accounts, y.for_private_mentions, y.for_limited_accounts"
    };
}
pub(crate) use policy_columns;

/// A stored policy; when it is read in a join, every column is NULL for an account without a row.
#[derive(Clone, Copy, Debug, Default, model::Row)]
pub struct PolicyRow {
    pub for_not_following: Option<PolicyAction>,
    pub for_not_followers: Option<PolicyAction>,
    pub for_new_accounts: Option<PolicyAction>,
    pub for_private_mentions: Option<PolicyAction>,
    pub for_limited_accounts: Option<PolicyAction>,
}

impl PolicyRow {
    /// The policy, with defaults for missing values.
    #[must_use]
    pub fn or_default(self) -> Policy {
        let usual = Policy::default();
        Policy {
            for_not_following: self.for_not_following.unwrap_or(usual.for_not_following),
            for_not_followers: self.for_not_followers.unwrap_or(usual.for_not_followers),
            for_new_accounts: self.for_new_accounts.unwrap_or(usual.for_new_accounts),
            for_private_mentions: self.for_private_mentions.unwrap_or(usual.for_private_mentions),
            for_limited_accounts: self.for_limited_accounts.unwrap_or(usual.for_limited_accounts),
        }
    }
}

/// The policy of `account`.
#[boxed]
pub async fn find(db: Conn<'_>, account: AccountId) -> Result<Policy> {
    let row: Option<PolicyRow> = db
        .query(sql!("SELECT " policy_columns!() " FROM notification_policies y WHERE y.account_id = $1"))
        .bind(account)
        .optional()
        .await?;
    Ok(row.unwrap_or_default().or_default())
}

/// Changes the values of `account`'s policy that are set in `changed`; others are not changed.
#[boxed]
pub async fn save(tx: &mut Tx, account: AccountId, changed: PolicyRow) -> Result<()> {
    let first = changed.or_default();
    tx.query(sql!(
        "INSERT INTO notification_policies (account_id, for_not_following, for_not_followers, for_new_accounts,
                                            for_private_mentions, for_limited_accounts)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (account_id) DO UPDATE SET
             for_not_following = coalesce(CAST($7 AS TEXT), notification_policies.for_not_following),
             for_not_followers = coalesce(CAST($8 AS TEXT), notification_policies.for_not_followers),
             for_new_accounts = coalesce(CAST($9 AS TEXT), notification_policies.for_new_accounts),
             for_private_mentions = coalesce(CAST($10 AS TEXT), notification_policies.for_private_mentions),
             for_limited_accounts = coalesce(CAST($11 AS TEXT), notification_policies.for_limited_accounts)"
    ))
    .bind(account)
    .bind(first.for_not_following)
    .bind(first.for_not_followers)
    .bind(first.for_new_accounts)
    .bind(first.for_private_mentions)
    .bind(first.for_limited_accounts)
    .bind(changed.for_not_following)
    .bind(changed.for_not_followers)
    .bind(changed.for_new_accounts)
    .bind(changed.for_private_mentions)
    .bind(changed.for_limited_accounts)
    .execute()
    .await?;
    Ok(())
}
