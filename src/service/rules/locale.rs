//! The languages of a viewer: the chosen ones, else the language of their settings, request or browser.
//!
//! Reached from timelines, trends and translations.
//!
//! Spec: docs/contract/rules.md#1-transport, and decision 2 of docs/contract/README.md#decisions.

use model::Actor;
use text::language;

/// The language of a viewer's settings, else of `lang` (a parameter), else the preferred one of `accept_language` (a
/// header).
#[must_use]
pub fn find(viewer: Option<&Actor>, lang: Option<&str>, accept_language: Option<&str>) -> Option<&'static str> {
    let own = viewer.and_then(|actor| actor.locale.as_deref()).or(lang).and_then(language::resolve);
    own.or_else(|| accept_language.and_then(language::from_accept_language))
}

/// The languages that a viewer chose to see; empty means all.
#[must_use]
pub fn chosen(viewer: Option<&Actor>) -> Vec<String> {
    viewer.map(|actor| actor.preferences.chosen_languages.clone()).unwrap_or_default()
}

/// The languages that a viewer chose to see, else the result of [`find`]; empty when none is known.
#[must_use]
pub fn languages(viewer: Option<&Actor>, lang: Option<&str>, accept_language: Option<&str>) -> Vec<String> {
    let chosen = chosen(viewer);
    if chosen.is_empty() {
        return find(viewer, lang, accept_language).map(str::to_owned).into_iter().collect();
    }
    chosen
}
