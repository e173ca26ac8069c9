//! Pages of notifications by keyset pagination, with a separate statement for each kind of filter: all types, some
//! types, or one sender.

use super::{NotificationFilter, NotificationRow};
use database::sql::Sql;
use database::{Db, Result, sql};
use model::{AccountId, Cursor, NotificationType, boxed};

/// A page of the notifications of `account`, newest first, without those from suspended accounts.
#[boxed]
pub async fn page(
    db: &Db,
    account: AccountId,
    wanted: &NotificationFilter,
    cursor: &Cursor,
) -> Result<Vec<NotificationRow>> {
    let statement = match wanted.from {
        Some(_) => from_one(cursor.ascending()),
        None if wanted.types.len() >= NotificationType::ALL.len() => all(cursor.ascending()),
        None => of_types(cursor.ascending()),
    };
    let mut query = db
        .query(statement)
        .bind(account)
        .bind(wanted.types())
        .bind(cursor.before())
        .bind(cursor.after())
        .bind(wanted.filtered)
        .bind(cursor.limit);
    if let Some(from) = wanted.from {
        query = query.bind(from);
    }
    Ok(cursor.newest_first(query.all().await?))
}

/// All types known to the server, read in the order of ids. The types are still compared, since there may be rows
/// with types of disabled plugins. `coalesce` prevents the planner from using the index by type, which is not ordered
/// by id across types.
fn all(ascending: bool) -> Sql {
    if ascending {
        sql!(
            "SELECT " listed_columns!() " FROM notifications n" within!()
            "AND coalesce(n.type, '')" in("$2") "ORDER BY n.id LIMIT $6"
        )
    } else {
        sql!(
            "SELECT " listed_columns!() " FROM notifications n" within!()
            "AND coalesce(n.type, '')" in("$2") "ORDER BY n.id DESC LIMIT $6"
        )
    }
}

/// From one sender. The index is forced on SQLite, which would use the shorter `notifications_account`; for
/// PostgreSQL `coalesce` as in [`all`].
fn from_one(ascending: bool) -> Sql {
    macro_rules! from_one_sql {
        ($index:literal, $types:literal, $order:literal) => {
            concat!(
                "SELECT ",
                listed_columns!(),
                " FROM notifications n",
                $index,
                within!(),
                "AND n.from_account_id = $7 AND coalesce(n.type, '')",
                $types,
                "ORDER BY n.id",
                $order,
                " LIMIT $6"
            )
        };
    }
    macro_rules! both {
        ($order:literal) => {
            sql!(
                sqlite: from_one_sql!(" INDEXED BY notifications_from", " IN (SELECT value FROM json_each($2)) ", $order);
                postgres: from_one_sql!("", " = ANY($2) ", $order)
            )
        };
    }
    if ascending { both!("") } else { both!(" DESC") }
}

/// Some types: reads a page of each type, using the index `notifications_type`, and merges them, so that a rare type
/// is found without reading all the others. PostgreSQL does this with `LATERAL`, which SQLite does not have: there a
/// correlated subquery selects the ids, by an index that SQLite would not choose, and a `CROSS JOIN`, which it does
/// not reorder, keeps the types outermost.
fn of_types(ascending: bool) -> Sql {
    macro_rules! both {
        ($order:literal) => {
            sql!(
                sqlite: "SELECT " listed_columns!() " FROM json_each($2) t
                         CROSS JOIN notifications n ON n.id IN (
                             SELECT n.id FROM notifications n INDEXED BY notifications_type" within!()
                            "AND n.type = t.value ORDER BY n.id" $order " LIMIT $6)
                         ORDER BY n.id" $order " LIMIT $6";
                postgres: "SELECT " listed_columns!() " FROM unnest($2::text[]) AS t(value)
                           CROSS JOIN LATERAL (
                               SELECT n.* FROM notifications n" within!() "AND n.type = t.value ORDER BY n.id" $order " LIMIT $6) n
                           ORDER BY n.id" $order " LIMIT $6"
            )
        };
    }
    if ascending { both!("") } else { both!(" DESC") }
}
