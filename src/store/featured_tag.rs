//! Hashtags that accounts feature on their profiles. Their counters are changed with the hashtags of statuses, in
//! [`tag`](super::tag).

use super::{Executor, Result};
use crate::sql;
use model::{AccountId, RowId, Time};

/// A hashtag featured on a profile.
#[derive(Debug, model::Row)]
#[expect(missing_docs, reason = "columns of the tables featured_tags and tags")]
pub struct FeaturedTag {
    pub id: RowId,
    pub name: String,
    pub display_name: String,
    pub statuses_count: i64,
    pub last_status_at: Option<Time>,
}

/// The hashtags that `account` features, most used first.
pub async fn list(db: impl Executor, account: AccountId) -> Result<Vec<FeaturedTag>> {
    db.query(sql!(
        "SELECT f.id, t.name, t.display_name, f.statuses_count, f.last_status_at
         FROM featured_tags f
         JOIN tags t ON t.id = f.tag_id
         WHERE f.account_id = $1
         ORDER BY f.statuses_count DESC, f.id"
    ))
    .bind(account)
    .all()
    .await
}
