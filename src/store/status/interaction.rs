//! A viewer's interactions with the statuses of a page: favourites, reblogs, bookmarks, pins and mutes of their
//! conversation; and whether statuses with a restricted audience mention the viewer.
//!
//! Reached from `service::visibility`: one statement for a page, and one for all connected viewers when a status is
//! streamed to them. Creating and removing marks is in [`favourite`](crate::favourite).

use std::collections::HashMap;

use crate::relation_sql::{blocks, mutes};
use database::sql::Ids;
use database::{Conn, Result, sql};
use model::{AccountId, ConversationId, RowId, StatusId, Time, boxed};

/// The marks of a viewer on the statuses of a page.
#[derive(Debug, Default)]
pub struct Marks(Vec<MarkRow>);

/// A mark, and the id of its status or conversation.
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

    /// The viewer is mentioned, or in the audience of a limited status; only known for the `addressed` statuses.
    #[must_use]
    pub fn mentioned(&self, status: StatusId) -> bool {
        self.has(6, status)
    }
}

/// SQL: the rows of the table `$table`, with the alias `x`, of viewer `$2` whose `$column` is in the list `$ids`,
/// each found by an index of both. On SQLite, `CROSS JOIN` fixes that order, and costs less than `IN`.
macro_rules! marked {
    (sqlite, $table:literal, $column:literal, $ids:literal) => {
        concat!(
            "FROM json_each(",
            $ids,
            ") e CROSS JOIN ",
            $table,
            " x WHERE x.account_id = $2 AND x.",
            $column,
            " = e.value"
        )
    };
    (postgres, $table:literal, $column:literal, $ids:literal) => {
        concat!("FROM ", $table, " x WHERE x.account_id = $2 AND x.", $column, " = ANY(", $ids, ")")
    };
}

/// The marks of `viewer` on `statuses` and `conversations`, and which of the statuses `addressed` mention the viewer.
#[boxed]
pub async fn find(
    db: Conn<'_>,
    viewer: AccountId,
    statuses: &[StatusId],
    conversations: &[ConversationId],
    addressed: &[StatusId],
) -> Result<Marks> {
    macro_rules! find_sql {
        ($engine:ident) => {
            concat!(
                "SELECT x.status_id AS id, CAST(1 AS BIGINT) AS mark ",
                marked!($engine, "favourites", "status_id", "$1"),
                " UNION ALL SELECT x.reblog_of_id, 2 ",
                marked!($engine, "statuses", "reblog_of_id", "$1"),
                " UNION ALL SELECT x.status_id, 3 ",
                marked!($engine, "bookmarks", "status_id", "$1"),
                " UNION ALL SELECT x.status_id, 4 FROM status_pins x WHERE x.account_id = $2",
                " UNION ALL SELECT x.conversation_id, 5 ",
                marked!($engine, "conversation_mutes", "conversation_id", "$3"),
                " UNION ALL SELECT x.status_id, 6 ",
                marked!($engine, "mentions", "status_id", "$4")
            )
        };
    }
    let mut rows: Vec<MarkRow> = db
        .query(sql!(sqlite: find_sql!(sqlite); postgres: find_sql!(postgres)))
        .bind(Ids::of(statuses.iter().copied()))
        .bind(viewer)
        .bind(Ids::of(conversations.iter().copied()))
        .bind(Ids::of(addressed.iter().copied()))
        .all()
        .await?;
    rows.sort_unstable();
    Ok(Marks(rows))
}

/// A mark of one of several viewers.
#[derive(Debug, model::Row)]
struct ViewerMarkRow {
    viewer: AccountId,
    id: i64,
    mark: i64,
}

/// SQL: as `marked!`, for the viewers in the list `$2`. Unmarked rows are detected by the index of `$column` alone,
/// so that a new status needs no look-up for each viewer.
macro_rules! marked_by {
    (sqlite, $table:literal, $column:literal, $ids:literal) => {
        concat!(
            "FROM json_each(",
            $ids,
            ") e CROSS JOIN json_each($2) w CROSS JOIN ",
            $table,
            " x WHERE EXISTS (SELECT 1 FROM ",
            $table,
            " y WHERE y.",
            $column,
            " = e.value) AND x.account_id = w.value AND x.",
            $column,
            " = e.value"
        )
    };
    (postgres, $table:literal, $column:literal, $ids:literal) => {
        concat!("FROM ", $table, " x WHERE x.account_id = ANY($2) AND x.", $column, " = ANY(", $ids, ")")
    };
}

/// The result of [`find`] for each of `viewers` who marked any of them.
#[boxed]
pub async fn find_each(
    db: Conn<'_>,
    viewers: &[AccountId],
    statuses: &[StatusId],
    conversations: &[ConversationId],
    addressed: &[StatusId],
) -> Result<HashMap<AccountId, Marks>> {
    macro_rules! find_each_sql {
        ($engine:ident) => {
            concat!(
                "SELECT x.account_id AS viewer, x.status_id AS id, CAST(1 AS BIGINT) AS mark ",
                marked_by!($engine, "favourites", "status_id", "$1"),
                " UNION ALL SELECT x.account_id, x.reblog_of_id, 2 ",
                marked_by!($engine, "statuses", "reblog_of_id", "$1"),
                " UNION ALL SELECT x.account_id, x.status_id, 3 ",
                marked_by!($engine, "bookmarks", "status_id", "$1"),
                " UNION ALL SELECT x.account_id, x.status_id, 4 ",
                marked_by!($engine, "status_pins", "status_id", "$1"),
                " UNION ALL SELECT x.account_id, x.conversation_id, 5 ",
                marked_by!($engine, "conversation_mutes", "conversation_id", "$3"),
                " UNION ALL SELECT x.account_id, x.status_id, 6 ",
                marked_by!($engine, "mentions", "status_id", "$4")
            )
        };
    }
    let rows: Vec<ViewerMarkRow> = db
        .query(sql!(sqlite: find_each_sql!(sqlite); postgres: find_each_sql!(postgres)))
        .bind(Ids::of(statuses.iter().copied()))
        .bind(Ids::of(viewers.iter().copied()))
        .bind(Ids::of(conversations.iter().copied()))
        .bind(Ids::of(addressed.iter().copied()))
        .all()
        .await?;
    let mut marks: HashMap<AccountId, Marks> = HashMap::new();
    for ViewerMarkRow { viewer, id, mark } in rows {
        marks.entry(viewer).or_default().0.push(MarkRow { id, mark });
    }
    marks.values_mut().for_each(|marks| marks.0.sort_unstable());
    Ok(marks)
}

/// A page of the accounts that interacted with a status, newest first, as (paging id, account). The paging id is the
/// id of the reblog, favourite or mention. Excludes suspended accounts, accounts that `viewer` blocks or mutes, and
/// accounts that block `viewer`; an expired mute does not count.
#[boxed]
pub async fn list_accounts(
    db: Conn<'_>,
    who: Interaction,
    status: StatusId,
    viewer: Option<AccountId>,
    cursor: &model::Cursor,
    now: Time,
) -> Result<Vec<(RowId, AccountId)>> {
    macro_rules! shown {
        ($account:literal) => {
            concat!(
                " AND NOT ",
                blocks!("$4", $account),
                " AND NOT ",
                blocks!($account, "$4"),
                " AND NOT ",
                mutes!("$4", $account, "$6"),
                " AND EXISTS (SELECT 1 FROM accounts a WHERE a.id = ",
                $account,
                " AND a.suspended_at IS NULL)"
            )
        };
    }
    let sql = match who {
        Interaction::Rebloggers => database::paged!(
            cursor,
            "SELECT r.id, r.account_id FROM statuses r
             WHERE r.reblog_of_id = $1 AND r.id < $2 AND r.id > $3
               AND r.visibility IN ('public', 'public_unlisted', 'login', 'unlisted')" shown!("r.account_id"),
            by "r.id", limit "$5"
        ),
        Interaction::Favouriters => database::paged!(
            cursor,
            "SELECT f.id, f.account_id FROM favourites f WHERE f.status_id = $1 AND f.id < $2 AND f.id > $3" shown!("f.account_id"),
            by "f.id", limit "$5"
        ),
        Interaction::Mentioned => database::paged!(
            cursor,
            "SELECT x.id, x.account_id FROM mentions x WHERE x.status_id = $1 AND x.id < $2 AND x.id > $3" shown!("x.account_id"),
            by "x.id", limit "$5"
        ),
    };
    // No account has the id 0: for an anonymous viewer the conditions on blocks and mutes match nothing.
    let query = db
        .query(sql)
        .bind(status)
        .bind(cursor.before())
        .bind(cursor.after())
        .bind(viewer.map_or(0, i64::from))
        .bind(cursor.limit)
        .bind(now);
    Ok(cursor.newest_first(query.all().await?))
}

/// An interaction of an account with a status, see [`list_accounts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interaction {
    /// Reblogged it, in a reblog that is not private.
    Rebloggers,
    /// Favourited it.
    Favouriters,
    /// Is mentioned in it, or belongs to its audience.
    Mentioned,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mark_is_of_one_status() {
        let marks = Marks(vec![MarkRow { id: 4, mark: 1 }, MarkRow { id: 4, mark: 3 }, MarkRow { id: 5, mark: 5 }]);
        let [four, five] = [4, 5].map(StatusId::from);
        assert!(marks.favourited(four) && marks.bookmarked(four) && !marks.reblogged(four));
        assert!(!marks.favourited(five) && marks.muted(5.into()) && !marks.pinned(five));
    }
}
