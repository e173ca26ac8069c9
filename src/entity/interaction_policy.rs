//! Who may interact with a status, in the form of GoToSocial with quotes added: a member of restricted statuses, and the
//! defaults of a person.
//!
//! Spec: docs/contract/rules.md#10-statuses, Interaction policies;
//! <https://docs.gotosocial.org/en/latest/api/swagger/>

use super::quote::write_word;
use context::json::{Fragment, Object};
use model::interaction::{Groups, InteractionKind, InteractionPolicy};
use model::{Preferences, Visibility};
use service::visibility::Permissions;

/// The name of the rule for `kind`.
fn name(kind: InteractionKind) -> &'static str {
    match kind {
        InteractionKind::Quote => "can_quote",
        InteractionKind::Reply => "can_reply",
        InteractionKind::Favourite => "can_favourite",
        InteractionKind::Reblog => "can_reblog",
    }
}

/// Appends `policy`, and for a status what its viewer may do.
pub(super) fn write(out: &mut String, policy: InteractionPolicy, viewer: Option<Permissions>) {
    Object::write(out, |object| {
        for kind in InteractionKind::ALL {
            let rule = policy.rule(*kind);
            object.member_with(name(*kind), |out| {
                Object::write(out, |object| {
                    let lists = [
                        ("always", rule.always),
                        ("with_approval", rule.with_approval),
                        ("automatic_approval", rule.always),
                        ("manual_approval", rule.with_approval),
                    ];
                    for (name, groups) in lists {
                        object.member_with(name, |out| write_groups(out, groups));
                    }
                    if let Some(viewer) = viewer {
                        object.member_with("current_user", |out| write_word(out, viewer.of(*kind).as_str()));
                    }
                });
            });
        }
    });
}

fn write_groups(out: &mut String, groups: Groups) {
    out.push('[');
    for (index, group) in groups.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_word(out, group.as_str());
    }
    out.push(']');
}

/// Renders the policies of new statuses of a person, by visibility.
#[must_use]
pub fn defaults(preferences: &Preferences) -> Fragment {
    let mut text = String::new();
    Object::write(&mut text, |object| {
        for visibility in Visibility::ALL {
            object.member_with(visibility.as_str(), |out| write(out, preferences.policy(*visibility), None));
        }
    });
    Fragment::from_string(text)
}
