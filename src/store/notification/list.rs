//! Pages of notifications, each by the index that fits what is wanted: all of them, some types, or one sender's.

use super::{Listed, Wanted};
use crate::model::{AccountId, Cursor, NotificationType};
use crate::sql;
use crate::store::sql::Sql;
use crate::store::{Db, Result};

/// What every page asks: the owner, the bounds, the policy, nobody suspended. `$2` are the types.
macro_rules! within {
    () => {
        concat!(" WHERE n.account_id = $1 AND n.id < $3 AND n.id > $4 AND (NOT n.filtered OR $5) AND", from_someone!())
    };
}

/// A page of the notifications of `account`, newest first; those from suspended accounts are left out.
///
/// # Errors
/// When the database does.
pub async fn page(db: &Db, account: AccountId, wanted: &Wanted, cursor: &Cursor) -> Result<Vec<Listed>> {
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

/// Every type: read in their order. The types are named all the same, since plugins have others; `coalesce` keeps the
/// engine from going through them type by type.
fn all(ascending: bool) -> Sql {
    if ascending {
        sql!(
            "SELECT " notification_columns!() " FROM notifications n" within!()
            "AND coalesce(n.type, '')" in("$2") "ORDER BY n.id LIMIT $6"
        )
    } else {
        sql!(
            "SELECT " notification_columns!() " FROM notifications n" within!()
            "AND coalesce(n.type, '')" in("$2") "ORDER BY n.id DESC LIMIT $6"
        )
    }
}

/// One sender's.
fn from_one(ascending: bool) -> Sql {
    if ascending {
        sql!(
            "SELECT " notification_columns!() " FROM notifications n" within!()
            "AND n.from_account_id = $7 AND coalesce(n.type, '')" in("$2") "ORDER BY n.id LIMIT $6"
        )
    } else {
        sql!(
            "SELECT " notification_columns!() " FROM notifications n" within!()
            "AND n.from_account_id = $7 AND coalesce(n.type, '')" in("$2") "ORDER BY n.id DESC LIMIT $6"
        )
    }
}

/// Some types: a page of each, and the best of those, so that a rare one is found without reading all the others.
/// SQLite keeps the order of a `CROSS JOIN`.
fn of_types(ascending: bool) -> Sql {
    if ascending {
        sql!(
            sqlite: "SELECT " notification_columns!() " FROM json_each($2) t
                     CROSS JOIN notifications n ON n.id IN (
                         SELECT n.id FROM notifications n" within!() "AND n.type = t.value ORDER BY n.id LIMIT $6)
                     ORDER BY n.id LIMIT $6";
            postgres: "SELECT " notification_columns!() " FROM unnest($2::text[]) AS t(value)
                       CROSS JOIN LATERAL (
                           SELECT n.* FROM notifications n" within!() "AND n.type = t.value ORDER BY n.id LIMIT $6) n
                       ORDER BY n.id LIMIT $6"
        )
    } else {
        sql!(
            sqlite: "SELECT " notification_columns!() " FROM json_each($2) t
                     CROSS JOIN notifications n ON n.id IN (
                         SELECT n.id FROM notifications n" within!() "AND n.type = t.value ORDER BY n.id DESC LIMIT $6)
                     ORDER BY n.id DESC LIMIT $6";
            postgres: "SELECT " notification_columns!() " FROM unnest($2::text[]) AS t(value)
                       CROSS JOIN LATERAL (
                           SELECT n.* FROM notifications n" within!() "AND n.type = t.value ORDER BY n.id DESC LIMIT $6) n
                       ORDER BY n.id DESC LIMIT $6"
        )
    }
}
