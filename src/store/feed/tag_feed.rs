//! Followed hashtags in home feeds: statuses added by a follow of a hashtag, and removed when it ends.
//!
//! Reached from the jobs of feeds. Other code that fills home feeds is in [`feed`](crate::feed), the follows
//! themselves in [`tag`](crate::tag). [`feed_sql`](crate::feed_sql) decides which statuses enter.
//!
//! Spec: docs/contract/rules.md#12-timelines, "home".

use super::Entered;
use crate::feed_sql::{admitted, followed, insert_unrepeated, tagged};
use database::{Result, Tx, sql};
use model::{AccountId, TagId, Time, boxed};

/// Backfills the home feed of `owner`, if it is maintained, with the newest `limit` admitted statuses that have the
/// followed `tag`; does nothing when the follow is gone. The scan of the primary key of `status_tags` stops at the
/// limit. Returns the inserted entries.
#[boxed]
pub async fn backfill(tx: &mut Tx, owner: AccountId, tag: TagId, now: Time, limit: i64) -> Result<Vec<Entered>> {
    tx.query(sql!(
        insert_unrepeated!(
            "SELECT o.* FROM (",
            tagged!("tf.account_id = $1 AND tf.tag_id = $2 AND u.feed_state = 'live'"),
            ") o WHERE ",
            admitted!("$3"),
            " ORDER BY o.id DESC LIMIT $4"
        )
        " ON CONFLICT DO NOTHING RETURNING CAST(kind AS BIGINT) AS kind, owner_id, status_id"
    ))
    .bind(owner)
    .bind(tag)
    .bind(now)
    .bind(limit)
    .all()
    .await
}

/// Removes from the home feed of `owner` the statuses with `tag` that are there for no other reason: not their own,
/// without another followed hashtag, and not admitted by a follow of an account; returns how many. Reads the whole
/// feed, which is bounded.
#[boxed]
pub async fn remove(tx: &mut Tx, owner: AccountId, tag: TagId, now: Time) -> Result<u64> {
    macro_rules! remove_sql {
        ($engine:ident) => {
            concat!(
                "DELETE FROM feed_entries
                 WHERE kind = 0 AND owner_id = $1
                   AND EXISTS (SELECT 1 FROM status_tags st
                               WHERE st.tag_id = $2 AND st.status_id = feed_entries.status_id)
                   AND NOT EXISTS (SELECT 1 FROM status_tags st
                                   JOIN tag_follows tf ON tf.tag_id = st.tag_id AND tf.account_id = $1
                                   WHERE st.status_id = feed_entries.status_id)
                   AND NOT EXISTS (SELECT 1 FROM statuses own
                                   WHERE own.id = feed_entries.status_id AND own.account_id = $1)
                   AND NOT EXISTS (SELECT 1 FROM (",
                followed!($engine, "f.account_id = $1 AND s.id = feed_entries.status_id"),
                ") o WHERE ",
                admitted!("$3"),
                ")"
            )
        };
    }
    tx.query(sql!(sqlite: remove_sql!(sqlite); postgres: remove_sql!(postgres)))
        .bind(owner)
        .bind(tag)
        .bind(now)
        .execute()
        .await
}
