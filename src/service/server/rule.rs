//! The rules of this server: adding and removing them.
//!
//! Reached from `rookery rule`. `Cx::rules` reads them from memory.

use crate::audit::{self, Entry, Target};
use context::Cx;
use context::error::{Error, Result};
use model::{RuleId, Staff};

/// Longest rule, in characters (contract: the Rule entity).
const TEXT_MAX: usize = 300;

/// Appends a rule to the list.
///
/// # Errors
/// [`Error::Invalid`] when it is empty or too long.
#[model::use_case]
pub async fn add(cx: &Cx, staff: &Staff, text: &str, hint: &str) -> Result<RuleId> {
    let (text, hint) = (text.trim(), hint.trim());
    if text.is_empty() || text.chars().count() > TEXT_MAX || text.contains('\0') || hint.contains('\0') {
        return Err(Error::invalid(format!("a rule has 1 to {TEXT_MAX} characters")));
    }
    let (id, now) = (cx.ids.next(), cx.clock.now());
    let mut tx = cx.db.begin().await?;
    store::instance::insert_rule(&mut tx, id, text, hint, now).await?;
    audit::record(cx, &mut tx, staff, Entry::new("rule.create", Target::new("rule", id, text))).await?;
    store::settings::bump_generation(&mut tx, now).await?;
    tx.commit().await?;
    cx.reload().await?;
    Ok(id)
}

/// Removes a rule.
///
/// # Errors
/// [`Error::Invalid`] when no rule has this id.
#[model::use_case]
pub async fn remove(cx: &Cx, staff: &Staff, id: RuleId) -> Result<()> {
    let now = cx.clock.now();
    let mut tx = cx.db.begin().await?;
    if !store::instance::delete_rule(&mut tx, id, now).await? {
        return Err(Error::invalid(format!("there is no rule {id}")));
    }
    audit::record(cx, &mut tx, staff, Entry::new("rule.delete", Target::new("rule", id, id.to_string()))).await?;
    store::settings::bump_generation(&mut tx, now).await?;
    tx.commit().await?;
    cx.reload().await?;
    Ok(())
}
