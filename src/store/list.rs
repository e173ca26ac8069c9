//! Lists of accounts. Their feeds are rows of kind 1 in [`plugin_feed`](super::plugin_feed).

use super::{Executor, Result};
use crate::sql;
use model::{AccountId, RowId};

/// A list.
#[derive(Debug, model::Row)]
#[expect(missing_docs, reason = "columns of the table lists")]
pub struct List {
    pub id: RowId,
    pub title: String,
    pub replies_policy: String,
    pub exclusive: bool,
    pub notify: bool,
}

/// The lists of `owner` that `member` is on, oldest first.
pub async fn list_with_member(db: impl Executor, owner: AccountId, member: AccountId) -> Result<Vec<List>> {
    db.query(sql!(
        "SELECT l.id, l.title, l.replies_policy, l.exclusive, l.notify
         FROM lists l
         JOIN list_accounts m ON m.list_id = l.id AND m.account_id = $2
         WHERE l.account_id = $1
         ORDER BY l.id"
    ))
    .bind(owner)
    .bind(member)
    .all()
    .await
}
