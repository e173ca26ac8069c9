//! The rules of this server: adding one and taking one away.
//!
//! Reached from `rookery rule`, later from the admin API. Reading them is [`App::rules`]: they are in memory.

use crate::app::App;
use crate::error::{Error, Result};
use model::RuleId;

/// Longest rule, in characters (contract: the Rule entity).
const TEXT_MAX: usize = 300;

/// Adds a rule below the others.
///
/// # Errors
/// [`Error::Invalid`] when it is empty or too long.
pub async fn add(app: &App, text: &str, hint: &str) -> Result<RuleId> {
    let (text, hint) = (text.trim(), hint.trim());
    if text.is_empty() || text.chars().count() > TEXT_MAX || text.contains('\0') || hint.contains('\0') {
        return Err(Error::invalid(format!("a rule has 1 to {TEXT_MAX} characters")));
    }
    let (id, now) = (app.ids.next(), app.clock.now());
    let mut tx = app.db.begin().await?;
    store::instance::insert_rule(&mut tx, id, text, hint, now).await?;
    store::settings::touch(&mut tx, now).await?;
    tx.commit().await?;
    app.reload().await?;
    Ok(id)
}

/// Takes a rule away.
///
/// # Errors
/// [`Error::Invalid`] when there is none of this id.
pub async fn remove(app: &App, id: RuleId) -> Result<()> {
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    if !store::instance::delete_rule(&mut tx, id, now).await? {
        return Err(Error::invalid(format!("there is no rule {id}")));
    }
    store::settings::touch(&mut tx, now).await?;
    tx.commit().await?;
    app.reload().await?;
    Ok(())
}
