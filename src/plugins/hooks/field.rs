//! A member that a plugin adds to entities, and the limits on its name and value.

use serde_json::Value;

use crate::call::json;

/// Longest value of one member, in bytes.
const LONGEST: usize = 64 * 1024;

/// A member that a manifest declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// As declared: `emoji_reactions`, or `other_settings.emoji_reaction_policy`.
    pub name: String,
    /// Its value as JSON when the plugin sets none; without a default it is left out.
    pub default: Option<String>,
}

impl Field {
    /// The field `name` with its default.
    #[must_use]
    pub fn new(name: &str, default: Option<&Value>) -> Self {
        Self { name: name.to_owned(), default: default.map(Value::to_string) }
    }

    /// The nested object that it is a member of, if any, and its name there.
    #[must_use]
    pub fn path(&self) -> (Option<&str>, &str) {
        match self.name.split_once('.') {
            Some((parent, name)) => (Some(parent), name),
            None => (None, &self.name),
        }
    }

    /// True for a name that needs no escaping: letters, digits and underscores, with at most one dot between them.
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

/// Names of properties that every JavaScript object inherits, and of methods that engines and promises call implicitly:
/// clients would overwrite or run them.
const RESERVED: [&str; 16] = [
    "__definegetter__",
    "__definesetter__",
    "__lookupgetter__",
    "__lookupsetter__",
    "__proto__",
    "constructor",
    "hasownproperty",
    "isprototypeof",
    "length",
    "propertyisenumerable",
    "prototype",
    "then",
    "tojson",
    "tolocalestring",
    "tostring",
    "valueof",
];

impl Field {
    /// The part of its name that clients may not be given, in any case.
    #[must_use]
    pub fn reserved(&self) -> Option<&str> {
        let (parent, name) = self.path();
        parent.into_iter().chain([name]).find(|part| RESERVED.contains(&part.to_ascii_lowercase().as_str()))
    }
}

/// True for one JSON value of bounded size and depth.
#[must_use]
pub fn is_value(text: &str) -> bool {
    text.len() <= LONGEST && json::check(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_json_of_bounded_depth_and_size() {
        assert!(is_value(r#"{"a":["\"[[[", 1]}"#));
        for wrong in ["", "{", "1,2", "\"a\":1", "nul", "{\"a\":1}}", "\u{0}"] {
            assert!(!is_value(wrong), "{wrong}");
        }
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(is_value(&nested(json::MAX_DEPTH)));
        assert!(!is_value(&nested(json::MAX_DEPTH + 1)));
        assert!(!is_value(&format!("\"{}\"", "a".repeat(LONGEST))));
    }

    #[test]
    fn names_that_objects_have_by_themselves_are_reserved() {
        assert!(RESERVED.is_sorted());
        for reserved in ["__proto__", "constructor", "toString", "a.ToJSON", "__PROTO__.a"] {
            assert!(Field::new(reserved, None).reserved().is_some(), "{reserved}");
        }
        assert_eq!(Field::new("proto.string", None).reserved(), None);
    }

    #[test]
    fn dot_leads_into_object() {
        assert_eq!(Field::new("a.b", None).path(), (Some("a"), "b"));
        assert_eq!(Field::new("a", None).path(), (None, "a"));
        for wrong in ["", "a.", ".a", "a.b.c", "a\"b", "a b"] {
            assert!(!Field::new(wrong, None).is_well_named(), "{wrong}");
        }
    }
}
