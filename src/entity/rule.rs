//! <https://docs.joinmastodon.org/entities/Rule/>

use std::collections::BTreeMap;

use serde::Serialize;

use context::Cx;
use model::RuleId;
use model::instance::{Rule as RuleModel, RuleText};

/// A rule of the server, with its translations.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rule {
    pub id: RuleId,
    pub text: String,
    pub hint: String,
    /// By language (Mastodon 4.4).
    pub translations: BTreeMap<String, RuleTranslation>,
}

/// A rule in another language.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RuleTranslation {
    pub text: String,
    pub hint: String,
}

impl From<&RuleModel> for Rule {
    fn from(rule: &RuleModel) -> Self {
        let translated = rule.translations.iter().map(|(language, translation)| {
            let RuleText { text, hint } = translation.clone();
            (language.clone(), RuleTranslation { text, hint })
        });
        Self { id: rule.id, text: rule.text.clone(), hint: rule.hint.clone(), translations: translated.collect() }
    }
}

/// The server rules, in order.
#[must_use]
pub fn rules(cx: &Cx) -> Vec<Rule> {
    cx.rules().iter().map(Rule::from).collect()
}
