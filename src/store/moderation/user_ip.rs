//! The addresses that accounts used, with the time of their last use, for the staff.
//!
//! Reached from sign-up, sign-in, the use of tokens, and `service::user_ip`. A row is written once a day at most. Rows
//! of an account go with it, and old ones by [`delete_old`].

use std::collections::HashMap;
use std::net::IpAddr;

use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::address::{from_sortable, sortable};
use model::{AccountId, Time, boxed};

/// Records that `account` used `address` at `now`, unless that was recorded after `stale`.
#[boxed]
pub async fn record(tx: &mut Tx, account: AccountId, address: IpAddr, now: Time, stale: Time) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO user_ips (account_id, ip, used_at) VALUES ($1, $2, $3)
         ON CONFLICT (account_id, ip) DO UPDATE SET used_at = excluded.used_at WHERE user_ips.used_at <= $4"
    ))
    .bind(account)
    .bind(sortable(address))
    .bind(now)
    .bind(stale)
    .execute()
    .await?;
    Ok(())
}

/// The last `limit` addresses of each of `accounts`, the last used one first. Accounts without any are left out.
#[boxed]
pub async fn latest(
    db: Conn<'_>,
    accounts: &[AccountId],
    limit: i64,
) -> Result<HashMap<AccountId, Vec<(IpAddr, Time)>>> {
    let rows: Vec<(AccountId, String, Time)> = db
        .query(sql!(
            "SELECT n.account_id, n.ip, n.used_at
             FROM (SELECT i.account_id, i.ip, i.used_at,
                          ROW_NUMBER() OVER (PARTITION BY i.account_id ORDER BY i.used_at DESC, i.ip) AS place
                   FROM user_ips i WHERE i.account_id" in("$1") ") n
             WHERE n.place <= $2
             ORDER BY n.account_id, n.place"
        ))
        .bind(Ids::of(accounts.iter().copied()))
        .bind(limit)
        .all()
        .await?;
    let mut found: HashMap<AccountId, Vec<(IpAddr, Time)>> = HashMap::new();
    for (account, ip, used_at) in rows {
        if let Some(address) = from_sortable(&ip) {
            found.entry(account).or_default().push((address, used_at));
        }
    }
    Ok(found)
}

/// The accounts that used an address from `first` to `last`, which are in the form of [`sortable`]; by id.
#[boxed]
pub async fn accounts_of_range(db: Conn<'_>, first: String, last: String) -> Result<Vec<AccountId>> {
    db.query(sql!("SELECT DISTINCT i.account_id FROM user_ips i WHERE i.ip >= $1 AND i.ip <= $2 ORDER BY i.account_id"))
        .bind(first)
        .bind(last)
        .scalars()
        .await
}

/// Deletes up to `limit` addresses that were not used since `time`; returns how many.
#[boxed]
pub async fn delete_old(tx: &mut Tx, time: Time, limit: i64) -> Result<u64> {
    tx.query(sql!(
        "DELETE FROM user_ips
         WHERE (account_id, ip) IN (SELECT i.account_id, i.ip FROM user_ips i WHERE i.used_at < $1 LIMIT $2)"
    ))
    .bind(time)
    .bind(limit)
    .execute()
    .await
}
