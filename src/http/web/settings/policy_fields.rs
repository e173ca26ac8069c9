//! The fields for who may interact with new posts: a few choices in place of the rules that apps can set.
//!
//! Rules that match no choice, and rules whose choice was not changed, stay as they are.
//!
//! Spec: docs/contract/rules.md#10-statuses, Interaction policies

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use model::Visibility;
use model::interaction::{Group, Groups, PolicyRules, Rule};

/// The rules of a person for new statuses, by their visibility.
type Policies = BTreeMap<Visibility, PolicyRules>;

/// The fields, by visibility.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema, Serialize)]
pub(super) struct PolicyFields {
    public: Option<RuleFields>,
    unlisted: Option<RuleFields>,
    private: Option<RuleFields>,
}

/// The fields of a visibility; a choice that is left out changes nothing, a box that is left out is not ticked.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema, Serialize)]
pub(in crate::web) struct RuleFields {
    /// Who may reply without approval: `everyone`, `followers`, `following` or `mentioned`; `app`: as an app set it.
    reply: Option<String>,
    /// Others may reply with approval.
    reply_ask: Option<bool>,
    /// Who may boost and favourite without approval: as `reply`, or `nobody`.
    react: Option<String>,
    /// Others may boost and favourite with approval.
    react_ask: Option<bool>,
}

/// The value of a choice is not one of those offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::web) struct UnknownChoice;

/// A choice, and whether others may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Choice {
    name: &'static str,
    ask: bool,
}

const EVERYONE: &str = "everyone";
const MENTIONED: &str = "mentioned";
const NOBODY: &str = "nobody";
/// The rule is none of the others.
const APP: &str = "app";

/// The choices that name one group.
const OF_GROUP: [(&str, Group); 3] =
    [("followers", Group::Followers), ("following", Group::Following), (MENTIONED, Group::Mentioned)];

/// Whether mentioned people may do it by any rule, as with replies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mentions {
    MayAlways,
    ByRule,
}

impl PolicyFields {
    /// The fields that show `policies`.
    pub(super) fn of(policies: &Policies) -> Self {
        let fields = |visibility| Some(RuleFields::of(policies.get(&visibility).copied().unwrap_or_default()));
        Self {
            public: fields(Visibility::Public),
            unlisted: fields(Visibility::Unlisted),
            private: fields(Visibility::Private),
        }
    }

    /// `stored` with the choices that were changed.
    ///
    /// # Errors
    /// [`UnknownChoice`].
    pub(super) fn change(&self, stored: &Policies) -> Result<Policies, UnknownChoice> {
        let mut policies = stored.clone();
        let sent = [
            (Visibility::Public, &self.public),
            (Visibility::Unlisted, &self.unlisted),
            (Visibility::Private, &self.private),
        ];
        for (visibility, fields) in sent {
            let Some(fields) = fields else { continue };
            let rules = fields.change(policies.get(&visibility).copied().unwrap_or_default())?;
            if rules == PolicyRules::default() {
                policies.remove(&visibility);
            } else {
                policies.insert(visibility, rules);
            }
        }
        Ok(policies)
    }
}

impl RuleFields {
    /// The fields that show `rules`.
    pub(in crate::web) fn of(rules: PolicyRules) -> Self {
        let (reply, react) = (reply(rules), react(rules));
        Self {
            reply: Some(reply.name.to_owned()),
            reply_ask: Some(reply.ask),
            react: Some(react.name.to_owned()),
            react_ask: Some(react.ask),
        }
    }

    /// `rules` with the choices that were changed.
    ///
    /// # Errors
    /// [`UnknownChoice`].
    pub(in crate::web) fn change(&self, mut rules: PolicyRules) -> Result<PolicyRules, UnknownChoice> {
        let sent = Choice::parse(self.reply.as_deref(), self.reply_ask, Mentions::MayAlways)?;
        if let Some(choice) = sent.filter(|choice| *choice != reply(rules)) {
            rules.can_reply = choice.rule();
        }
        let sent = Choice::parse(self.react.as_deref(), self.react_ask, Mentions::ByRule)?;
        if let Some(choice) = sent.filter(|choice| *choice != react(rules)) {
            (rules.can_favourite, rules.can_reblog) = (choice.rule(), choice.rule());
        }
        Ok(rules)
    }
}

/// The choice that shows the rule of replies.
fn reply(rules: PolicyRules) -> Choice {
    Choice::of(rules.can_reply, Mentions::MayAlways)
}

/// The choice that shows both rules of reactions.
fn react(rules: PolicyRules) -> Choice {
    let [favourite, reblog] = [rules.can_favourite, rules.can_reblog].map(|rule| Choice::of(rule, Mentions::ByRule));
    if favourite == reblog { favourite } else { Choice::new(APP, false) }
}

impl Choice {
    /// Where everyone may, there are no others who could ask.
    fn new(name: &'static str, ask: bool) -> Self {
        Self { name, ask: ask && name != EVERYONE && name != APP }
    }

    /// The choice with the same effect as `rule`.
    fn of(rule: Option<Rule>, mentions: Mentions) -> Self {
        let rule = rule.unwrap_or_else(Rule::everyone);
        if rule.always.contains(Group::Public) {
            return Self::new(EVERYONE, false);
        }
        let counts = |group: &Group| *group != Group::Mentioned || mentions == Mentions::ByRule;
        let always: Vec<Group> = rule.always.iter().filter(counts).collect();
        let ask = rule.with_approval.contains(Group::Public);
        let some_may_ask = rule.with_approval.iter().filter(counts).any(|group| !rule.always.contains(group));
        let name = match always[..] {
            _ if some_may_ask && !ask => APP,
            [] if mentions == Mentions::MayAlways => MENTIONED,
            [] => NOBODY,
            [one] => OF_GROUP.iter().find(|(_, group)| *group == one).map_or(APP, |(name, _)| *name),
            [..] => APP,
        };
        Self::new(name, ask)
    }

    /// The choice that was sent; `None` when nothing is to change.
    fn parse(name: Option<&str>, ask: Option<bool>, mentions: Mentions) -> Result<Option<Self>, UnknownChoice> {
        let name = match name {
            None | Some("" | APP) => return Ok(None),
            Some(EVERYONE) => EVERYONE,
            Some(NOBODY) if mentions == Mentions::ByRule => NOBODY,
            Some(sent) => OF_GROUP.iter().find(|(name, _)| *name == sent).ok_or(UnknownChoice)?.0,
        };
        Ok(Some(Self::new(name, ask.unwrap_or_default())))
    }

    /// The rule of this choice; `None` for the default, which is everyone.
    fn rule(self) -> Option<Rule> {
        let groups = OF_GROUP.iter().filter(|(name, _)| *name == self.name).map(|(_, group)| *group);
        let always = groups.fold(Groups::default(), Groups::with);
        let with_approval = if self.ask { Groups::of(&[Group::Public]) } else { Groups::default() };
        (self.name != EVERYONE).then_some(Rule { always, with_approval })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(always: &[Group], with_approval: &[Group]) -> Option<Rule> {
        Some(Rule { always: Groups::of(always), with_approval: Groups::of(with_approval) })
    }

    #[test]
    fn choice_has_the_effect_of_the_rule() {
        use Group::{Followers, Following, Mentioned, Public};
        for (rule, of_reply, of_reaction) in [
            (None, (EVERYONE, false), (EVERYONE, false)),
            (rule(&[Public, Followers], &[Public]), (EVERYONE, false), (EVERYONE, false)),
            (rule(&[], &[]), (MENTIONED, false), (NOBODY, false)),
            (rule(&[], &[Public]), (MENTIONED, true), (NOBODY, true)),
            (rule(&[Followers], &[]), ("followers", false), ("followers", false)),
            (rule(&[Following], &[Public, Followers]), ("following", true), ("following", true)),
            (rule(&[Followers], &[Followers]), ("followers", false), ("followers", false)),
            (rule(&[Followers, Mentioned], &[]), ("followers", false), (APP, false)),
            (rule(&[Followers], &[Mentioned]), ("followers", false), (APP, false)),
            (rule(&[Followers, Following], &[Public]), (APP, false), (APP, false)),
            (rule(&[Followers], &[Following]), (APP, false), (APP, false)),
        ] {
            let choice = |mentions| Choice::of(rule, mentions);
            let (reply, reaction) = (choice(Mentions::MayAlways), choice(Mentions::ByRule));
            assert_eq!(((reply.name, reply.ask), (reaction.name, reaction.ask)), (of_reply, of_reaction), "{rule:?}");
            if reaction.name != APP {
                assert_eq!(Choice::of(reaction.rule(), Mentions::ByRule), reaction);
            }
        }
    }

    #[test]
    fn unchanged_choice_keeps_the_rule() {
        let rules = PolicyRules {
            can_reply: rule(&[Group::Followers, Group::Mentioned], &[]),
            can_favourite: rule(&[Group::Followers], &[]),
            can_reblog: rule(&[], &[]),
            ..PolicyRules::default()
        };
        let fields = RuleFields::of(rules);
        assert_eq!((fields.reply.as_deref(), fields.react.as_deref()), (Some("followers"), Some(APP)));
        assert_eq!(fields.change(rules), Ok(rules));
        let sent = RuleFields { reply: Some(NOBODY.to_owned()), ..RuleFields::default() };
        assert_eq!(sent.change(rules), Err(UnknownChoice), "people who are mentioned may reply");
        let sent = RuleFields { react: Some(EVERYONE.to_owned()), react_ask: Some(true), ..RuleFields::default() };
        let changed = sent.change(rules).expect("a choice");
        assert_eq!((changed.can_favourite, changed.can_reblog, changed.can_reply), (None, None, rules.can_reply));
    }
}
