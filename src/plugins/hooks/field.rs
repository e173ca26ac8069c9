//! A member that a plugin adds to entities, and what it may be.

use serde_json::Value;
use serde_json::value::RawValue;

/// Longest value of one member, bytes.
const LONGEST: usize = 64 * 1024;
/// Deepest nesting of a value.
const DEEPEST: usize = 32;

/// A member that a manifest declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// As declared: `emoji_reactions`, or `other_settings.emoji_reaction_policy`.
    pub name: String,
    /// What it is when the plugin says nothing, as JSON; none: it is left out.
    pub default: Option<String>,
}

impl Field {
    /// The field `name` with its default.
    #[must_use]
    pub fn new(name: &str, default: Option<&Value>) -> Self {
        Self { name: name.to_owned(), default: default.map(Value::to_string) }
    }

    /// The object that it is a member of, and its name there; no object: the entity itself.
    #[must_use]
    pub fn path(&self) -> (Option<&str>, &str) {
        match self.name.split_once('.') {
            Some((parent, name)) => (Some(parent), name),
            None => (None, &self.name),
        }
    }

    /// True for a name that needs no escaping: letters, digits and underscores, with a dot between two of them.
    #[must_use]
    pub fn is_well_named(&self) -> bool {
        let plain = |name: &str| {
            !name.is_empty()
                && name.len() <= 64
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        let (parent, name) = self.path();
        parent.is_none_or(plain) && plain(name)
    }
}

/// True for one JSON value of bounded size and depth.
#[must_use]
pub fn is_value(json: &str) -> bool {
    json.len() <= LONGEST && depth(json) <= DEEPEST && serde_json::from_str::<&RawValue>(json).is_ok()
}

/// How deep brackets nest in `json`, which may turn out not to be JSON.
fn depth(json: &str) -> usize {
    let (mut now, mut deepest, mut quoted, mut escaped) = (0_usize, 0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'[' | b'{' => {
                now += 1;
                deepest = deepest.max(now);
            }
            b']' | b'}' => now = now.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_json_of_bounded_depth_and_size() {
        assert!(is_value(r#"{"a":["\"[[[", 1]}"#));
        assert_eq!(depth(r#"{"a":["\"[[[", 1]}"#), 2);
        for wrong in ["", "{", "1,2", "\"a\":1", "nul", "{\"a\":1}}", "\u{0}"] {
            assert!(!is_value(wrong), "{wrong}");
        }
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(is_value(&nested(DEEPEST)));
        assert!(!is_value(&nested(DEEPEST + 1)));
        assert!(!is_value(&format!("\"{}\"", "a".repeat(LONGEST))));
    }

    #[test]
    fn a_dot_leads_into_an_object() {
        assert_eq!(Field::new("a.b", None).path(), (Some("a"), "b"));
        assert_eq!(Field::new("a", None).path(), (None, "a"));
        for wrong in ["", "a.", ".a", "a.b.c", "a\"b", "a b"] {
            assert!(!Field::new(wrong, None).is_well_named(), "{wrong}");
        }
    }
}
