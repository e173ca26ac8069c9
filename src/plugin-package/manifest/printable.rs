//! Texts of packages that people read on a terminal: characters that move the cursor, change colours or reverse the
//! direction of a line could make a permission look like another, or hide it.
//!
//! Refused in manifests. Where texts of other origin are printed, they are escaped ([`text::printable`]).

use serde_json::Value;
use text::printable::{escaped, is_unprintable};

/// Checks the texts of a manifest, keys included. The commands of `[build]` may have several lines.
pub(super) fn check(manifest: &Value) -> Result<(), String> {
    let members = manifest.as_object().into_iter().flatten();
    let checked = members.map(|(key, value)| check_within(key, key, value, key == "build"));
    checked.collect()
}

fn check_within(place: &str, key: &str, value: &Value, lines: bool) -> Result<(), String> {
    let refused = |text: &str| text.contains(|c| is_unprintable(c) && !(lines && matches!(c, '\n' | '\t')));
    let fault = |text: &str| {
        let text = escaped(text);
        Err(format!("{}: the text \"{text}\" has a character that is not printable: leave it out", escaped(place)))
    };
    match value {
        _ if refused(key) => fault(key),
        Value::String(text) if refused(text) => fault(text),
        Value::Array(items) => items.iter().try_for_each(|item| check_within(place, "", item, lines)),
        Value::Object(members) => {
            members.iter().try_for_each(|(key, value)| check_within(&format!("{place}, {key}"), key, value, lines))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn escapes_are_refused_wherever_they_are_in_a_manifest() {
        for manifest in [
            json!({ "plugin": { "title": "Notes\u{1b}[2K" } }),
            json!({ "plugin": { "description": "one\ntwo" } }),
            json!({ "scope": [{ "description": "\u{202E}read" }] }),
            json!({ "page": [{ "title": { "en": "a\u{2066}" } }] }),
            json!({ "page": [{ "title": { "e\u{7}": "a" } }] }),
            json!({ "build": { "command": "make\u{1b}" } }),
        ] {
            let refused = check(&manifest).expect_err("refused");
            assert!(refused.contains("not printable") && !refused.contains(is_unprintable), "{refused}");
        }
        let fine = json!({ "plugin": { "title": "ノート 👩‍🎨" }, "build": { "command": "make\n\tall" } });
        assert_eq!(check(&fine), Ok(()));
    }
}
