//! The search names of accounts ([`text::names`]) with their rank by followers, so that a search reads the most followed
//! accounts first.
//!
//! Reached from [`account`](crate::account) and [`profile`](crate::profile), which write accounts, and read by
//! [`account_search`](crate::account_search).

use database::{Result, Tx, sql};
use model::{AccountId, Json};

/// The highest rank: a million followers and more have the same rank as a hundred thousand.
pub(crate) const HIGHEST: i64 = 6;

/// The number of digits of the follower count, at most [`HIGHEST`]; 0 without followers.
pub(crate) fn rank(followers: i64) -> i64 {
    followers.max(0).checked_ilog10().map_or(0, |digits| i64::from(digits) + 1).min(HIGHEST)
}

/// Replaces the names of an account.
pub(crate) async fn replace(tx: &mut Tx, id: AccountId, username: &str, display_name: &str, rank: i64) -> Result<()> {
    tx.query(sql!("DELETE FROM account_names WHERE account_id = $1")).bind(id).execute().await?;
    let names: Vec<[String; 1]> = text::names(username, display_name).into_iter().map(|name| [name]).collect();
    tx.query(sql!(
        "INSERT INTO account_names (rank, name, account_id)
         SELECT CAST($2 AS BIGINT), value ->> 0, CAST($1 AS BIGINT) FROM" rows("$3")
    ))
    .bind(id)
    .bind(rank)
    .bind(Json(names))
    .execute()
    .await?;
    Ok(())
}

/// Updates the rank of an account.
pub(crate) async fn set_rank(tx: &mut Tx, id: AccountId, rank: i64) -> Result<()> {
    tx.query(sql!("UPDATE account_names SET rank = $2 WHERE account_id = $1 AND rank <> $2"))
        .bind(id)
        .bind(rank)
        .execute()
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_is_the_number_of_digits() {
        let ranks = [-1, 0, 1, 9, 10, 99, 100, 99_999, 100_000, i64::MAX].map(rank);
        assert_eq!(ranks, [0, 0, 1, 1, 2, 2, 3, 5, 6, 6]);
    }
}
