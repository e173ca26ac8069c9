//! What a status says of quotes: who may quote it, and a quote that is not shown in full.
//!
//! <https://docs.joinmastodon.org/entities/QuoteApproval/>, <https://docs.joinmastodon.org/entities/ShallowQuote/>

use context::json::Object;
use model::interaction::{Group, Groups, Permission, Rule};
use service::visibility::ShallowQuote;

/// Appends a word of an enumeration as JSON.
pub(super) fn write_word(out: &mut String, word: &str) {
    out.extend(["\"", word, "\""]);
}

/// Appends a quote that shows no more than the id of the quoted status:
/// <https://docs.joinmastodon.org/entities/ShallowQuote/>.
pub(super) fn write_shallow(out: &mut String, quote: ShallowQuote) {
    Object::write(out, |object| {
        object.member_with("state", |out| write_word(out, quote.state.as_str()));
        object.member_with("quoted_status_id", |out| match quote.quoted {
            None => out.push_str("null"),
            Some(id) => write_word(out, &id.to_string()),
        });
    });
}

pub(super) fn write_approval(out: &mut String, rule: Rule, viewer: Permission) {
    Object::write(out, |object| {
        object.member_with("automatic", |out| write_groups(out, rule.always));
        object.member_with("manual", |out| write_groups(out, rule.with_approval));
        object.member_with("current_user", |out| write_word(out, viewer.as_str()));
    });
}

/// Appends the groups of a policy that a quote approval has words for.
fn write_groups(out: &mut String, groups: Groups) {
    let more = groups.has_others() || groups.contains(Group::Mentioned);
    let named = groups.iter().filter(|group| *group != Group::Mentioned).map(Group::as_str);
    out.push('[');
    for (index, word) in named.chain(more.then_some("unsupported_policy")).enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_word(out, word);
    }
    out.push(']');
}
