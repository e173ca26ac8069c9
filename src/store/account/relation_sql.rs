//! SQL for mutes, blocks and pages of accounts, shared by all statements that need it.
//!
//! Macros that expand to a string, for [`sql!`](database::sql!). Accounts, domains and times are passed as SQL: a
//! column such as `a.id`, or a parameter such as `$2`. NULL as an account, for an anonymous viewer, has no mutes and
//! blocks. Each condition is an `EXISTS` that finds its row by the unique index of the pair.
//!
//! The effects of relations are decided elsewhere: for feeds in [`feed_sql`](crate::feed_sql), for reading in
//! `service::visibility`.

use database::Conn;
use database::query::Query;
use database::sql::Sql;
use model::{AccountId, Cursor};

/// SQL condition: the mute with the alias `$mute` has not expired by `$now`.
macro_rules! unexpired {
    ($mute:literal, $now:literal) => {
        concat!("(", $mute, ".expires_at IS NULL OR ", $mute, ".expires_at > ", $now, ")")
    };
}
pub(crate) use unexpired;

/// SQL condition: `$account` mutes `$target` at the time `$now`; with a fourth argument, by a mute `m` that also
/// satisfies that condition.
macro_rules! mutes {
    ($account:literal, $target:literal, $now:literal) => {
        $crate::relation_sql::mutes!($account, $target, $now, "")
    };
    ($account:literal, $target:literal, $now:literal, $more:literal) => {
        concat!(
            "EXISTS (SELECT 1 FROM mutes m WHERE m.account_id = ",
            $account,
            " AND m.target_account_id = ",
            $target,
            " AND ",
            $crate::relation_sql::unexpired!("m", $now),
            $more,
            ")"
        )
    };
}
pub(crate) use mutes;

/// SQL condition: `$account` blocks `$target`.
macro_rules! blocks {
    ($account:literal, $target:literal) => {
        concat!(
            "EXISTS (SELECT 1 FROM blocks b WHERE b.account_id = ",
            $account,
            " AND b.target_account_id = ",
            $target,
            ")"
        )
    };
}
pub(crate) use blocks;

/// SQL condition: `$account` blocks the domain `$domain`; NULL, the domain of local accounts, is never blocked.
macro_rules! blocks_domain {
    ($account:literal, $domain:literal) => {
        concat!(
            "EXISTS (SELECT 1 FROM account_domain_blocks d WHERE d.account_id = ",
            $account,
            " AND d.domain = ",
            $domain,
            ")"
        )
    };
}
pub(crate) use blocks_domain;

/// SQL condition: `$viewer` and account `a` do not block each other, and at the time `$now` `$viewer` neither mutes
/// `a` nor blocks its domain.
macro_rules! is_wanted {
    ($viewer:literal, $now:literal) => {
        concat!(
            "NOT ",
            $crate::relation_sql::blocks!($viewer, "a.id"),
            " AND NOT ",
            $crate::relation_sql::blocks!("a.id", $viewer),
            " AND NOT ",
            $crate::relation_sql::mutes!($viewer, "a.id", $now),
            " AND NOT ",
            $crate::relation_sql::blocks_domain!($viewer, "a.domain")
        )
    };
}
pub(crate) use is_wanted;

/// SQL condition: account `a` is suspended.
macro_rules! suspended {
    () => {
        "a.suspended_at IS NOT NULL"
    };
}
pub(crate) use suspended;

/// A page of the accounts in a table of relations, read as [`Listed`](model::relationship::Listed), by keyset pagination
/// over the ids of its rows: `listed!(cursor, "blocks", "account_id" => "target_account_id", hidden [suspended!()])`.
///
/// The first column is the owner of the page (`$1`), the second column the listed account, which has the alias `a`;
/// `$2` and `$3` are the bounds of the cursor, `$4` its limit. An account that satisfies the condition after `hidden`
/// is marked as hidden instead of excluded, so that it counts towards the limit. `columns` and `where` may extend the
/// row, which has the alias `x`.
macro_rules! listed {
    ($cursor:expr, $table:literal, $own:literal => $other:literal, hidden [$($hidden:tt)+]) => {
        $crate::relation_sql::listed!(
            $cursor, $table, $own => $other, hidden [$($hidden)+], columns [""], where [""]
        )
    };
    ($cursor:expr, $table:literal, $own:literal => $other:literal, hidden [$($hidden:tt)+],
     columns [$($columns:tt)+], where [$($condition:tt)+]) => {
        database::paged!(
            $cursor,
            "SELECT x.id AS row_id, x." $other " AS account_id, a.version, " $($hidden)+ " AS hidden" $($columns)+ "
             FROM " $table " x
             JOIN accounts a ON a.id = x." $other "
             WHERE x." $own " = $1 AND x.id < $2 AND x.id > $3" $($condition)+,
            by "x.id", limit "$4"
        )
    };
}
pub(crate) use listed;

/// Binds the first four parameters of a `listed!` statement, for the page of `own`.
pub(crate) fn page<'a>(db: Conn<'a>, sql: Sql, own: AccountId, cursor: &Cursor) -> Query<'a> {
    db.query(sql).bind(own).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit)
}
