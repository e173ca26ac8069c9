//! Groups of notifications: pages of them, their members, and the table `notification_groups`, by which a page is
//! found without reading the members of its groups.
//!
//! A row of that table contains the last notification that joined, even if it has been retracted since: the position
//! of a group is looked up among its members. Reached from `service::notification`. Spec:
//! docs/contract/rules.md#13-notifications.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::{NotificationFilter, NotificationRow};
use crate::relation_sql::{page as listed_page, suspended};
use database::query::Query;
use database::sql::{Sql, Texts};
use database::{Db, Result, Tx, sql};
use model::notification::NotificationKind;
use model::relationship::Listed;
use model::{AccountId, Cursor, Json, NotificationId, StatusId, boxed};

/// A group collects notifications within this many hours of its first one.
pub const GROUP_HOURS: i64 = 12;
/// The same as a distance between ids, which are milliseconds and a sequence of 16 bits.
const GROUP_IDS: i64 = (GROUP_HOURS * 60 * 60 * 1_000) << 16;

/// The condition of the index `notifications_single`, which a statement must repeat for the index to be used.
macro_rules! groupable {
    () => {
        "n.type NOT IN ('mention', 'status', 'list_status', 'status_reference', 'quote', 'pending.quote', 'pending.reply', 'pending.favourite', 'pending.reblog', 'follow_request', 'poll', 'update', 'quoted_update', 'severed_relationships', 'moderation_warning', 'move', 'admin.sign_up', 'admin.report')"
    };
}

/// SQL: the newest notification within the cursor of a group `g` of `$1`, with a forced index on SQLite.
macro_rules! newest_member {
    ($index:literal) => {
        concat!(
            "(SELECT n.id FROM notifications n",
            $index,
            " WHERE n.account_id = $1 AND n.group_key = g.group_key AND n.id < $3 AND n.id > $4 AND",
            sender_not_suspended!(),
            "ORDER BY n.id DESC LIMIT 1)"
        )
    };
}

/// A statement around the positions of a page of groups: ids of notifications, with the key of the group that each
/// represents. A group without a notification within the cursor has no id, and comes last.
///
/// For each type a page of its notifications or groups, merged: `$2` are the ungrouped types, `$7` the grouped types,
/// `$8` is the upper bound of the last joined id for groups with members below the cursor. As in
/// [`list`](super::list), SQLite has no `LATERAL`, and its indexes are forced.
macro_rules! places {
    ([$($before:tt)*] $order:literal [$($after:tt)*]) => {
        sql!(
            sqlite: $($before)* "SELECT h.id, h.group_key FROM (
                         SELECT n.id AS id, NULL AS group_key FROM json_each($2) t
                         CROSS JOIN notifications n ON n.id IN (
                             SELECT n.id FROM notifications n INDEXED BY notifications_type" within!()
                            "AND n.type = t.value ORDER BY n.id" $order " LIMIT $6)
                         UNION ALL
                         SELECT n.id, NULL FROM json_each($7) t
                         CROSS JOIN notifications n ON n.id IN (
                             SELECT n.id FROM notifications n INDEXED BY notifications_single" within!()
                            "AND n.type = t.value AND n.group_key IS NULL AND " groupable!() "
                             ORDER BY n.id" $order " LIMIT $6)
                         UNION ALL
                         SELECT " newest_member!(" INDEXED BY notifications_group") ", g.group_key FROM json_each($7) t
                         CROSS JOIN notification_groups g ON g.id IN (
                             SELECT o.id FROM notification_groups o INDEXED BY notification_groups_newest
                             WHERE o.account_id = $1 AND o.type = t.value AND o.last_id < $3 AND o.last_id > $4
                             ORDER BY o.last_id" $order " LIMIT $6)
                         UNION ALL
                         SELECT " newest_member!(" INDEXED BY notifications_group") ", g.group_key FROM json_each($7) t
                         CROSS JOIN notification_groups g INDEXED BY notification_groups_newest
                             ON g.account_id = $1 AND g.type = t.value AND g.last_id >= $3 AND g.last_id < $8
                     ) h ORDER BY h.id IS NULL, h.id" $order " LIMIT $6" $($after)*;
            postgres: $($before)* "SELECT h.id, h.group_key FROM (
                           SELECT n.id, CAST(NULL AS TEXT) AS group_key FROM unnest($2::text[]) AS t(value)
                           CROSS JOIN LATERAL (
                               SELECT n.id FROM notifications n" within!() "AND n.type = t.value
                               ORDER BY n.id" $order " LIMIT $6) n
                           UNION ALL
                           SELECT n.id, NULL FROM unnest($7::text[]) AS t(value)
                           CROSS JOIN LATERAL (
                               SELECT n.id FROM notifications n" within!() "AND n.type = t.value
                                   AND n.group_key IS NULL AND " groupable!() "
                               ORDER BY n.id" $order " LIMIT $6) n
                           UNION ALL
                           SELECT " newest_member!("") ", g.group_key FROM unnest($7::text[]) AS t(value)
                           CROSS JOIN LATERAL (
                               SELECT o.group_key FROM notification_groups o
                               WHERE o.account_id = $1 AND o.type = t.value AND o.last_id < $3 AND o.last_id > $4
                               ORDER BY o.last_id" $order " LIMIT $6) g
                           UNION ALL
                           SELECT " newest_member!("") ", g.group_key FROM notification_groups g
                           WHERE g.account_id = $1 AND g.type = ANY($7) AND g.last_id >= $3 AND g.last_id < $8
                       ) h ORDER BY h.id IS NULL, h.id" $order " LIMIT $6" $($after)*
        )
    };
}

/// The head of a group on a page: its newest notification within the cursor.
#[derive(Clone, Debug, model::Row)]
pub struct GroupHead {
    #[row(flatten)]
    pub newest: NotificationRow,
    /// False for a single notification.
    pub grouped: bool,
}

/// The types of a filter: ungrouped and grouped ones.
fn split(wanted: &NotificationFilter, grouped: &[NotificationKind]) -> (Texts, Texts) {
    let (grouped, single): (Vec<_>, Vec<_>) = wanted.types.iter().partition(|kind| grouped.contains(kind));
    let names = |kinds: Vec<&NotificationKind>| Texts::of(kinds.into_iter().map(NotificationKind::as_str));
    (names(single), names(grouped))
}

/// A page of groups, newest first; each notification of a type outside of `grouped` is a single item. The filter must
/// not select a sender.
#[boxed]
pub async fn heads(
    db: &Db,
    account: AccountId,
    wanted: &NotificationFilter,
    grouped: &[NotificationKind],
    cursor: &Cursor,
) -> Result<Vec<GroupHead>> {
    let mut heads: Vec<GroupHead> =
        matching(db, page(cursor.ascending()), account, wanted, grouped, cursor).all().await?;
    heads.sort_unstable_by_key(|head| Reverse(head.newest.notification.id));
    Ok(heads)
}

/// The number of groups found by [`heads`], at most the cursor's limit.
#[boxed]
pub async fn count(
    db: &Db,
    account: AccountId,
    wanted: &NotificationFilter,
    grouped: &[NotificationKind],
    cursor: &Cursor,
) -> Result<i64> {
    let statement = places!(["SELECT COUNT(h.id) FROM ("] " DESC" [") h"]);
    matching(db, statement, account, wanted, grouped, cursor).scalar().await
}

/// A statement over [`places!`] with its parameters.
fn matching<'a>(
    db: &'a Db,
    statement: Sql,
    account: AccountId,
    wanted: &NotificationFilter,
    grouped: &[NotificationKind],
    cursor: &Cursor,
) -> Query<'a> {
    let (single, grouped) = split(wanted, grouped);
    db.query(statement)
        .bind(account)
        .bind(single)
        .bind(cursor.before())
        .bind(cursor.after())
        .bind(wanted.filtered)
        .bind(cursor.limit)
        .bind(grouped)
        .bind(cursor.before().saturating_add(GROUP_IDS))
}

/// The heads with their rows, in no particular order: SQLite would sort them all once more. A position without a
/// notification, whose group is entirely beyond the cursor, matches no row.
fn page(ascending: bool) -> Sql {
    macro_rules! rows {
        ($order:literal) => {
            places!(
                ["SELECT " listed_columns!() ", h.group_key IS NOT NULL AS grouped FROM ("]
                $order
                [") h CROSS JOIN notifications n WHERE n.id = h.id"]
            )
        };
    }
    if ascending { rows!("") } else { rows!(" DESC") }
}

/// For each of the groups `keys` of `account` the newest `most` notifications up to `newest`, in no particular order;
/// without notifications from suspended accounts, and including filtered ones.
#[boxed]
pub async fn samples(
    db: &Db,
    account: AccountId,
    keys: &[String],
    newest: i64,
    most: i64,
) -> Result<Vec<NotificationRow>> {
    db.query(sql!(
        sqlite: "SELECT " listed_columns!() " FROM json_each($2) t
                 CROSS JOIN notifications n ON n.id IN (
                     SELECT n.id FROM notifications n INDEXED BY notifications_group
                     WHERE n.account_id = $1 AND n.group_key = t.value AND n.id <= $3 AND" sender_not_suspended!() "
                     ORDER BY n.id DESC LIMIT $4)";
        postgres: "SELECT " listed_columns!() " FROM unnest($2::text[]) AS t(value)
                   CROSS JOIN LATERAL (
                       SELECT n.* FROM notifications n
                       WHERE n.account_id = $1 AND n.group_key = t.value AND n.id <= $3 AND" sender_not_suspended!() "
                       ORDER BY n.id DESC LIMIT $4) n"
    ))
    .bind(account)
    .bind(Texts::of(keys.iter().cloned()))
    .bind(newest)
    .bind(most)
    .all()
    .await
}

/// The number of members of a group, and its first member within a range of ids.
#[derive(Clone, Debug, model::Row)]
pub struct GroupExtent {
    pub group_key: String,
    /// All members up to the end of the range, including those from suspended accounts.
    pub members: i64,
    /// The first member within the range.
    pub first_id: Option<NotificationId>,
}

/// The extents of the groups `keys` of `account` within the ids from `oldest` to `newest`: read from the index
/// `notifications_group` alone.
#[boxed]
pub async fn extents(
    db: &Db,
    account: AccountId,
    keys: &[String],
    oldest: i64,
    newest: i64,
) -> Result<Vec<GroupExtent>> {
    macro_rules! extents_sql {
        ($keys:literal) => {
            concat!(
                "SELECT t.value AS group_key,
                        (SELECT COUNT(*) FROM notifications n
                         WHERE n.account_id = $1 AND n.group_key = t.value AND n.id <= $4) AS members,
                        (SELECT MIN(n.id) FROM notifications n
                         WHERE n.account_id = $1 AND n.group_key = t.value AND n.id >= $3 AND n.id <= $4) AS first_id
                 FROM ",
                $keys
            )
        };
    }
    db.query(sql!(sqlite: extents_sql!("json_each($2) t"); postgres: extents_sql!("unnest($2::text[]) AS t(value)")))
        .bind(account)
        .bind(Texts::of(keys.iter().cloned()))
        .bind(oldest)
        .bind(newest)
        .all()
        .await
}

/// A page of the accounts behind a group of `account`, by the ids of its notifications. An account behind several
/// notifications is listed several times.
#[boxed]
pub async fn accounts(db: &Db, account: AccountId, group_key: &str, cursor: &Cursor) -> Result<Vec<Listed>> {
    let statement = database::paged!(
        cursor,
        "SELECT n.id AS row_id, n.from_account_id AS account_id, a.version, " suspended!() " AS hidden
         FROM notifications n
         JOIN accounts a ON a.id = n.from_account_id
         WHERE n.account_id = $1 AND n.id < $2 AND n.id > $3 AND n.group_key = $5",
        by "n.id", limit "$4"
    );
    let rows = listed_page(db.into(), statement, account, cursor).bind(group_key.to_owned()).all().await?;
    Ok(cursor.newest_first(rows))
}

/// Deletes a group of `account` with its notifications.
#[boxed]
pub async fn delete(tx: &mut Tx, account: AccountId, group_key: &str) -> Result<()> {
    for part in [
        sql!("DELETE FROM notifications WHERE account_id = $1 AND group_key = $2"),
        sql!("DELETE FROM notification_groups WHERE account_id = $1 AND group_key = $2"),
    ] {
        tx.query(part).bind(account).bind(group_key.to_owned()).execute().await?;
    }
    Ok(())
}

/// A notification that joins a group.
#[derive(Clone, Debug)]
pub struct NewMember {
    pub id: NotificationId,
    /// The receiver.
    pub account: AccountId,
    pub group_key: String,
    pub kind: NotificationKind,
    pub status: Option<StatusId>,
}

/// Records that notifications joined their groups, in one statement. In the order of keys, which prevents deadlocks.
#[boxed]
pub async fn join(tx: &mut Tx, members: Vec<NewMember>) -> Result<()> {
    #[derive(Serialize)]
    struct Row<'a> {
        account: AccountId,
        key: &'a str,
        kind: &'a NotificationKind,
        status: Option<StatusId>,
        last: NotificationId,
    }
    let mut last: BTreeMap<(AccountId, &str), &NewMember> = BTreeMap::new();
    for member in &members {
        let known = last.entry((member.account, member.group_key.as_str())).or_insert(member);
        if known.id < member.id {
            *known = member;
        }
    }
    if last.is_empty() {
        return Ok(());
    }
    let rows = last.into_iter().map(|((account, key), member)| Row {
        account,
        key,
        kind: &member.kind,
        status: member.status,
        last: member.id,
    });
    tx.query(sql!(
        "INSERT INTO notification_groups (id, account_id, group_key, type, status_id, last_id)
         SELECT CAST(value ->> 'last' AS BIGINT), CAST(value ->> 'account' AS BIGINT), value ->> 'key',
                value ->> 'kind', CAST(value ->> 'status' AS BIGINT), CAST(value ->> 'last' AS BIGINT)
         FROM" rows("$1") "WHERE TRUE
         ON CONFLICT (account_id, group_key) DO UPDATE SET last_id = excluded.last_id
         WHERE excluded.last_id > notification_groups.last_id"
    ))
    .bind(Json(rows.collect::<Vec<_>>()))
    .execute()
    .await?;
    Ok(())
}

/// The attributes of a deleted notification.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, model::Row)]
pub struct DeletedMember {
    pub account_id: AccountId,
    pub group_key: Option<String>,
}

/// Deletes the groups whose last members were `deleted`; returns the number of deleted notifications. The groups are
/// locked before they are checked, so that a group joined concurrently is kept.
#[boxed]
pub async fn delete_empty(tx: &mut Tx, deleted: Vec<DeletedMember>) -> Result<u64> {
    let count = deleted.len() as u64;
    let mut left: Vec<DeletedMember> = deleted.into_iter().filter(|member| member.group_key.is_some()).collect();
    left.sort_unstable();
    left.dedup();
    if left.is_empty() {
        return Ok(count);
    }
    macro_rules! these {
        () => {
            " CROSS JOIN notification_groups g
              WHERE g.account_id = CAST(value ->> 'account_id' AS BIGINT) AND g.group_key = value ->> 'group_key'"
        };
    }
    let _: Vec<i64> = tx
        .query(sql!(
            sqlite: "SELECT g.id FROM " rows("$1") these!();
            postgres: "SELECT g.id FROM " rows("$1") these!() " ORDER BY g.account_id, g.group_key FOR UPDATE OF g"
        ))
        .bind(Json(left.clone()))
        .scalars()
        .await?;
    tx.query(sql!(
        "DELETE FROM notification_groups WHERE id IN (
             SELECT g.id FROM " rows("$1") these!() "
               AND NOT EXISTS (SELECT 1 FROM notifications n
                               WHERE n.account_id = g.account_id AND n.group_key = g.group_key)
         )"
    ))
    .bind(Json(left))
    .execute()
    .await?;
    Ok(count)
}
