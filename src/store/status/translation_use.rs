//! The number of characters sent to the translation service per day.

use database::{Result, Tx, sql};
use model::boxed;

/// Adds `characters` to the count of `day` (in days since the epoch), unless it would exceed `budget`; false in that
/// case.
#[boxed]
pub async fn take(tx: &mut Tx, day: i64, characters: i64, budget: i64) -> Result<bool> {
    if characters > budget {
        return Ok(false);
    }
    tx.query(sql!("DELETE FROM translation_use WHERE day < $1")).bind(day).execute().await?;
    let added = tx
        .query(sql!(
            "INSERT INTO translation_use (day, characters) VALUES ($1, $2)
             ON CONFLICT (day) DO UPDATE SET characters = translation_use.characters + excluded.characters
             WHERE translation_use.characters + excluded.characters <= $3"
        ))
        .bind(day)
        .bind(characters)
        .bind(budget)
        .execute()
        .await?;
    Ok(added > 0)
}
