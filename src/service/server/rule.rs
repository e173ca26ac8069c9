//! The rules of this server: adding, translating and removing them.
//!
//! Reached from `rookery rule` and `/api/v1/admin/rules`. `Cx::rules` reads them from memory.

use crate::audit::{self, Entry, Target};
use context::Cx;
use context::error::{Error, Result};
use model::instance::{Rule, RuleText};
use model::{RuleId, Staff};
use serde_json::{Map, Value, json};

/// Longest rule, in characters (contract: the Rule entity).
const TEXT_MAX: usize = 300;

/// Longest hint of a translation, in characters.
const HINT_MAX: usize = 2_000;

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

/// Sets the translation of a rule into `language`; a blank text removes it.
///
/// # Errors
/// [`Error::NotFound`] when no rule has this id, [`Error::Invalid`] for an unknown language and for texts that are too
/// long.
#[model::use_case]
pub async fn translate(cx: &Cx, staff: &Staff, id: RuleId, language: &str, text: &str, hint: &str) -> Result<Rule> {
    let (text, hint, now) = (text.trim(), hint.trim(), cx.clock.now());
    let known = text::language::resolve(language);
    let language = known.ok_or_else(|| Error::invalid(format!("{:?} is not a language", clip(language))))?;
    if text.chars().count() > TEXT_MAX || hint.chars().count() > HINT_MAX || [text, hint].concat().contains('\0') {
        return Err(Error::invalid(format!("a rule has 1 to {TEXT_MAX} characters, its hint at most {HINT_MAX}")));
    }
    let mut tx = cx.db.begin().await?;
    // Locks the row of the generation, so that two translations of a rule cannot overtake each other.
    store::settings::bump_generation(&mut tx, now).await?;
    let mut rules = store::instance::rules(&mut tx).await?;
    let rule = rules.iter_mut().find(|rule| rule.id == id).ok_or(Error::NotFound)?;
    if text.is_empty() {
        rule.translations.remove(language);
    } else {
        let translation = RuleText { text: text.to_owned(), hint: hint.to_owned() };
        rule.translations.insert(language.to_owned(), translation);
    }
    let stored = rule.translations.iter().map(|(language, translation)| {
        (language.clone(), json!({ "text": &translation.text, "hint": &translation.hint }))
    });
    store::instance::set_rule_translations(&mut tx, id, stored.collect::<Map<String, Value>>().into()).await?;
    let entry = Entry::new("rule.translate", Target::new("rule", id, rule.text.clone()));
    audit::record(cx, &mut tx, staff, entry.with(json!({ "language": language }))).await?;
    let rule = rule.clone();
    tx.commit().await?;
    cx.reload().await?;
    Ok(rule)
}

/// The beginning of a text, for an error.
fn clip(text: &str) -> String {
    text.chars().take(40).collect()
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
