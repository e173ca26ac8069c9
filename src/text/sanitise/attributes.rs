//! The attribute allow-list of the sanitiser.

use super::Role;
use crate::escape::push_escaped;
use crate::tokens::Tag;

/// URL schemes allowed in links; a link with any other scheme or a relative URL becomes plain text.
const SCHEMES: [&str; 11] =
    ["http", "https", "dat", "dweb", "ipfs", "ipns", "ssb", "gopher", "xmpp", "magnet", "gemini"];

/// Allowed classes without a microformat prefix.
const CLASSES: [&str; 4] = ["mention", "hashtag", "ellipsis", "invisible"];

/// Prefixes of microformat classes, which are all allowed. See <https://microformats.org/wiki/microformats2>.
const CLASS_PREFIXES: [&str; 5] = ["h-", "p-", "u-", "dt-", "e-"];

/// The attributes to write in the start tag, after its name; `None` when the tag must be dropped.
pub(super) fn of(role: Role, tag: &Tag<'_>) -> Option<String> {
    let mut out = String::new();
    match role {
        Role::Link => {
            push(&mut out, "href", &address(&tag.attribute("href")?)?);
            push_class_and_translate(&mut out, tag);
            out.push_str(r#" rel="nofollow noopener noreferrer" target="_blank""#);
        }
        Role::Span => push_class_and_translate(&mut out, tag),
        Role::OrderedList => {
            push_number(&mut out, "start", tag);
            if tag.attribute("reversed").is_some() {
                out.push_str(" reversed");
            }
        }
        Role::Item => push_number(&mut out, "value", tag),
        Role::Inline | Role::Paragraph | Role::Block | Role::List | Role::Ruby | Role::RubyText => {}
    }
    Some(out)
}

/// `href` as browsers parse it (surrounding spaces and all tabs and newlines removed), if it may be linked.
///
/// See <https://url.spec.whatwg.org/#concept-basic-url-parser>.
fn address(href: &str) -> Option<String> {
    let href = href.trim_matches(|c: char| c <= ' ').replace(['\t', '\n', '\r', '\0'], "");
    let (scheme, rest) = href.split_once(':')?;
    let known = SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known));
    let web = scheme.len() <= 5 && scheme.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("http"));
    let complete = if web { rest.len() > 2 && rest.starts_with("//") } else { !rest.is_empty() };
    (known && complete).then_some(href)
}

fn push_class_and_translate(out: &mut String, tag: &Tag<'_>) {
    let classes = tag.attribute("class").unwrap_or_default();
    let kept: Vec<&str> = classes.split_ascii_whitespace().filter(|class| is_kept(class)).collect();
    if !kept.is_empty() {
        push(out, "class", &kept.join(" "));
    }
    if tag.attribute("translate").is_some_and(|value| value == "no") {
        push(out, "translate", "no");
    }
}

fn is_kept(class: &str) -> bool {
    CLASSES.contains(&class) || CLASS_PREFIXES.iter().any(|prefix| class.starts_with(prefix))
}

fn push_number(out: &mut String, name: &str, tag: &Tag<'_>) {
    if let Some(number) = tag.attribute(name).and_then(|value| value.trim().parse::<i32>().ok()) {
        push(out, name, &number.to_string());
    }
}

fn push(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    push_escaped(out, value);
    out.push('"');
}
