//! Who may interact with a note, as far as its author states it: the groups that are kept, and whether others are named.
//!
//! Spec: docs/contract/federation.md#15-who-may-interact

use model::InteractionPolicy;
use model::interaction::{Group, Groups, InteractionKind, Rule};

use super::author::Author;
use crate::address::same_host;
use crate::vocabulary::{Note, SubPolicy, is_public};

/// The rules that `note` states. An empty one counts as none.
pub(super) fn policy(note: &Note, author: &Author) -> InteractionPolicy {
    let Some(stated) = &*note.interaction_policy else { return InteractionPolicy::default() };
    let rules = [
        (InteractionKind::Quote, &stated.can_quote),
        (InteractionKind::Reply, &stated.can_reply),
        (InteractionKind::Favourite, &stated.can_like),
        (InteractionKind::Reblog, &stated.can_announce),
    ];
    rules.into_iter().fold(InteractionPolicy::default(), |policy, (kind, rule)| {
        match rule.as_ref().filter(|rule| !rule.is_empty()) {
            Some(rule) => policy.with(kind, read(rule, note, author)),
            None => policy,
        }
    })
}

fn read(rule: &SubPolicy, note: &Note, author: &Author) -> Rule {
    Rule { always: groups(rule.automatic(), note, author), with_approval: groups(rule.manual(), note, author) }
}

fn groups<'a>(ids: impl Iterator<Item = &'a str>, note: &Note, author: &Author) -> Groups {
    ids.fold(Groups::default(), |groups, id| {
        if is_public(id) {
            groups.with(Group::Public)
        } else if author.followers.as_deref() == Some(id) {
            groups.with(Group::Followers)
        } else if id == author.uri {
            groups
        } else if id.ends_with("/following") && same_host(id, &author.uri) {
            groups.with(Group::Following)
        } else if note.tag.iter().any(|tag| tag.is("Mention") && tag.href.as_deref() == Some(id)) {
            groups.with(Group::Mentioned)
        } else {
            groups.and_others()
        }
    })
}
