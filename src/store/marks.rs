//! What a viewer did with the statuses of a page: favourited, reblogged, bookmarked or pinned them, or muted their
//! conversation; and whether those addressed to few mention the viewer.
//!
//! Reached from `service::visibility`, one statement for a page. Making and removing marks is in
//! [`favourite`](super::favourite).

use super::sql::Ids;
use super::{Executor, Result};
use crate::sql;
use model::{AccountId, ConversationId, StatusId};

/// A page's ids are looked up by ranges of the index, each as wide as the ids of nine hours: statuses of a timeline stand
/// close together, and the few rows that are read beside them cost less than a look-up for each status.
const RANGE: i64 = 1 << 41;

/// The marks of a viewer on the statuses of a page.
#[derive(Debug, Default)]
pub struct Marks(Vec<MarkRow>);

/// A mark, and the id of the status or conversation that has it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, model::Row)]
struct MarkRow {
    id: i64,
    mark: i64,
}

impl Marks {
    fn has(&self, mark: i64, id: impl Into<i64>) -> bool {
        !self.0.is_empty() && self.0.binary_search(&MarkRow { id: id.into(), mark }).is_ok()
    }

    /// The viewer favourited it.
    #[must_use]
    pub fn favourited(&self, status: StatusId) -> bool {
        self.has(1, status)
    }

    /// The viewer reblogged it.
    #[must_use]
    pub fn reblogged(&self, status: StatusId) -> bool {
        self.has(2, status)
    }

    /// The viewer bookmarked it.
    #[must_use]
    pub fn bookmarked(&self, status: StatusId) -> bool {
        self.has(3, status)
    }

    /// The viewer pinned it to their profile.
    #[must_use]
    pub fn pinned(&self, status: StatusId) -> bool {
        self.has(4, status)
    }

    /// The viewer muted the conversation.
    #[must_use]
    pub fn muted(&self, conversation: ConversationId) -> bool {
        self.has(5, conversation)
    }

    /// The viewer is mentioned, or in the audience of a limited status; only known of those that were asked about.
    #[must_use]
    pub fn mentioned(&self, status: StatusId) -> bool {
        self.has(6, status)
    }
}

/// The marks of `viewer` on `statuses` and `conversations`, and which of the statuses `addressed` mention the viewer.
///
/// Each part walks ranges of an index that begins with the account and covers it. `CROSS JOIN` keeps SQLite's planner from
/// another order.
pub async fn find(
    db: impl Executor,
    viewer: AccountId,
    statuses: impl Iterator<Item = StatusId>,
    conversations: impl Iterator<Item = ConversationId>,
    addressed: impl Iterator<Item = StatusId>,
) -> Result<Marks> {
    let ranges = ranges(statuses.map(i64::from).chain(conversations.map(i64::from)));
    let mut rows: Vec<MarkRow> = db
        .query(sql!(
            "SELECT f.status_id AS id, CAST(1 AS BIGINT) AS mark FROM" each("$1") "CROSS JOIN favourites f
             WHERE f.account_id = $2 AND f.status_id >= value AND f.status_id < value + $3
             UNION ALL
             SELECT r.reblog_of_id, 2 FROM" each("$1") "CROSS JOIN statuses r
             WHERE r.account_id = $2 AND r.reblog_of_id >= value AND r.reblog_of_id < value + $3
             UNION ALL
             SELECT b.status_id, 3 FROM" each("$1") "CROSS JOIN bookmarks b
             WHERE b.account_id = $2 AND b.status_id >= value AND b.status_id < value + $3
             UNION ALL
             SELECT p.status_id, 4 FROM status_pins p WHERE p.account_id = $2
             UNION ALL
             SELECT c.conversation_id, 5 FROM" each("$1") "CROSS JOIN conversation_mutes c
             WHERE c.account_id = $2 AND c.conversation_id >= value AND c.conversation_id < value + $3
             UNION ALL
             SELECT m.status_id, 6 FROM" each("$4") "CROSS JOIN mentions m
             WHERE m.status_id = value AND m.account_id = $2"
        ))
        .bind(Ids::of(ranges))
        .bind(viewer)
        .bind(RANGE)
        .bind(Ids::of(addressed))
        .all()
        .await?;
    rows.sort_unstable();
    Ok(Marks(rows))
}

/// The beginnings of the ranges that the ids are in.
fn ranges(ids: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut ranges: Vec<i64> = ids.map(|id| id - id.rem_euclid(RANGE)).collect();
    ranges.sort_unstable();
    ranges.dedup();
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_close_together_share_a_range() {
        assert_eq!(ranges([RANGE + 5, 3, RANGE, 2 * RANGE - 1].into_iter()), [0, RANGE]);
        assert_eq!(ranges([-1].into_iter()), [-RANGE]);
    }

    #[test]
    fn mark_is_of_one_status() {
        let marks = Marks(vec![MarkRow { id: 4, mark: 1 }, MarkRow { id: 4, mark: 3 }, MarkRow { id: 5, mark: 5 }]);
        let [four, five] = [4, 5].map(StatusId::from);
        assert!(marks.favourited(four) && marks.bookmarked(four) && !marks.reblogged(four));
        assert!(!marks.favourited(five) && marks.muted(5.into()) && !marks.pinned(five));
    }
}
