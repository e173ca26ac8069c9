//! How many people signed up on each day without an invitation.

use database::{Conn, Result, Tx, sql};
use model::boxed;

/// The sign-ups of a day in UTC, counted from the epoch.
#[boxed]
pub async fn count(db: Conn<'_>, day: i64) -> Result<i64> {
    let found = db.query(sql!("SELECT d.sign_ups FROM sign_up_days d WHERE d.day = $1")).bind(day).scalars().await?;
    Ok(found.into_iter().next().unwrap_or_default())
}

/// Counts a sign-up of `day`; false, without counting, when there are `most` already. 0: any number.
///
/// Concurrent sign-ups wait for each other here, so that no more than `most` are counted.
#[boxed]
pub async fn admit(tx: &mut Tx, day: i64, most: i64) -> Result<bool> {
    let changed = tx
        .query(sql!(
            "INSERT INTO sign_up_days (day, sign_ups) VALUES ($1, 1)
             ON CONFLICT (day) DO UPDATE SET sign_ups = sign_up_days.sign_ups + 1
             WHERE $2 = 0 OR sign_up_days.sign_ups < $2"
        ))
        .bind(day)
        .bind(most)
        .execute()
        .await?;
    Ok(changed > 0)
}
