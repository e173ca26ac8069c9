//! Who may interact with a status, as other servers read it.
//!
//! Every rule is stated, since the server enforces them all. The author is named where not everyone is: an empty list
//! would mean that nothing is stated.
//!
//! Spec: docs/contract/federation.md#15-who-may-interact

use model::interaction::{Group, Groups, InteractionKind, Rule};
use model::{Account, Status};
use serde::Serialize;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Policy {
    can_quote: SubPolicy,
    can_reply: SubPolicy,
    can_like: SubPolicy,
    can_announce: SubPolicy,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SubPolicy {
    automatic_approval: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    manual_approval: Vec<String>,
}

/// The policy of `status` of `author`. `mentioned`: the URIs of the accounts that it mentions, who may always reply.
/// `public`: the collection that means everyone.
pub(super) fn policy(author: &Account, status: &Status, mentioned: &[String], public: &str) -> Policy {
    let sub = |rule: Rule, with_mentioned: bool| {
        let mut automatic = uris(rule.always, author, mentioned, public);
        if !rule.always.contains(Group::Public) {
            automatic.insert(0, author.uri.clone());
            if with_mentioned && !rule.always.contains(Group::Mentioned) {
                automatic.extend(mentioned.iter().cloned());
            }
        }
        SubPolicy {
            automatic_approval: automatic,
            manual_approval: uris(rule.with_approval, author, mentioned, public),
        }
    };
    let rule = |kind| status.interaction_policy.rule(kind);
    Policy {
        can_quote: sub(status.interaction_policy.quotes(status.visibility.is_anonymous()), false),
        can_reply: sub(rule(InteractionKind::Reply), true),
        can_like: sub(rule(InteractionKind::Favourite), false),
        can_announce: sub(rule(InteractionKind::Reblog), false),
    }
}

fn uris(groups: Groups, author: &Account, mentioned: &[String], public: &str) -> Vec<String> {
    groups
        .iter()
        .flat_map(|group| match group {
            Group::Public => vec![public.to_owned()],
            Group::Followers => vec![format!("{}/followers", author.uri)],
            Group::Following => vec![format!("{}/following", author.uri)],
            Group::Mentioned => mentioned.to_vec(),
        })
        .collect()
}
