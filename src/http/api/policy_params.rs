//! The rules of who may interact with a status, as parameters.
//!
//! Spec: docs/contract/rules.md#10-statuses, Interaction policies

use context::error::{Error, Result};
use model::interaction::{Group, Groups, PolicyRules, Rule};
use schemars::JsonSchema;
use serde::Deserialize;

/// Who may do what with a status; what is left out stays, or is the default.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(super) struct PolicyParams {
    can_quote: Option<RuleParams>,
    can_reply: Option<RuleParams>,
    can_favourite: Option<RuleParams>,
    can_reblog: Option<RuleParams>,
}

/// Who may do one thing with a status: `public`, `followers`, `following`, `mentioned`. `author` is allowed, and has no
/// effect: authors may do everything.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(super) struct RuleParams {
    /// Without approval; nobody but the author when it is left out.
    #[serde(alias = "automatic_approval")]
    always: Option<Vec<String>>,
    /// With approval.
    #[serde(alias = "manual_approval")]
    with_approval: Option<Vec<String>>,
}

impl PolicyParams {
    /// The rules.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a word that names no group.
    pub(super) fn rules(self) -> Result<PolicyRules> {
        let rule = |name: &str, rule: Option<RuleParams>| rule.map(|rule| rule.rule(name)).transpose();
        Ok(PolicyRules {
            can_quote: rule("can_quote", self.can_quote)?,
            can_reply: rule("can_reply", self.can_reply)?,
            can_favourite: rule("can_favourite", self.can_favourite)?,
            can_reblog: rule("can_reblog", self.can_reblog)?,
        })
    }
}

impl RuleParams {
    fn rule(self, name: &str) -> Result<Rule> {
        let groups = |member: &str, words: Option<Vec<String>>| -> Result<Groups> {
            let words = words.unwrap_or_default();
            let mut named = words.iter().filter(|word| !matches!(word.as_str(), "author" | "me" | "nobody" | ""));
            named.try_fold(Groups::default(), |groups, word| {
                let group: Group = word
                    .parse()
                    .map_err(|expected| Error::invalid(format!("interaction_policy[{name}][{member}]: {expected}")))?;
                Ok::<_, Error>(groups.with(group))
            })
        };
        Ok(Rule { always: groups("always", self.always)?, with_approval: groups("with_approval", self.with_approval)? })
    }
}
