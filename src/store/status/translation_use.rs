//! How many characters were sent to the translation service on each day.

use database::{Result, Tx, sql};

/// Adds `characters` to those of `day` (counted from the epoch), unless they would be more than `budget`; false then.
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
