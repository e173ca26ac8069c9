//! Parses bracketed parameters of requests into one JSON tree: `a[]=1`, `a[b]=c`, `list[][key]=v`, `fields[0][name]=x`.
//!
//! The notations follow the Mastodon API (and Rack); depth and number are bounded. Used by the server and by
//! the SDK, so that a plugin's route parses parameters as the server's own routes do. Does no I/O and no decoding.

use std::fmt;

use serde_json::{Map, Value};

/// Deepest nesting of brackets in one name.
pub const MAX_DEPTH: usize = 8;
/// Most parameters in one request.
pub const MAX_PARAMETERS: usize = 2000;

/// Why parameters were refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// More than [`MAX_PARAMETERS`].
    TooMany,
    /// A name nested deeper than [`MAX_DEPTH`].
    TooDeep,
    /// A name that is sent with two different shapes, such as a string and a list.
    TwoThings(String),
    /// A name or text with a NUL character, which PostgreSQL cannot store.
    Nul(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany => write!(f, "more than {MAX_PARAMETERS} parameters"),
            Self::TooDeep => f.write_str("a parameter name is nested too deep"),
            Self::TwoThings(name) => write!(f, "{name} is sent as two different things"),
            Self::Nul(name) => write!(f, "{name} must not contain a NUL character"),
        }
    }
}

impl std::error::Error for Refused {}

/// The tree under construction.
#[derive(Debug, Default)]
pub struct Tree {
    root: Map<String, Value>,
    count: usize,
}

impl Tree {
    /// Adds one value under a bracketed name.
    ///
    /// # Errors
    /// Any [`Refused`] except [`Refused::Nul`].
    pub fn add(&mut self, name: &str, value: Value) -> Result<(), Refused> {
        self.count += 1;
        if self.count > MAX_PARAMETERS {
            return Err(Refused::TooMany);
        }
        let path = segments(name);
        if path.len() > MAX_DEPTH {
            return Err(Refused::TooDeep);
        }
        insert(&mut self.root, &path, value).map_err(|()| Refused::TwoThings(path[0].to_owned()))
    }

    /// Adds the members of a JSON object, which replace members of the same name.
    pub fn merge(&mut self, object: Map<String, Value>) {
        self.root.extend(object);
    }

    /// The finished tree, an object.
    ///
    /// # Errors
    /// [`Refused::Nul`].
    pub fn finish(self) -> Result<Value, Refused> {
        let tree = Value::Object(self.root);
        match nul_in(&tree) {
            Some(name) => Err(Refused::Nul(name.to_owned())),
            None => Ok(tree),
        }
    }
}

/// `a[b][]` → `a`, `b`, ``. A name with broken brackets is one segment.
fn segments(name: &str) -> Vec<&str> {
    let Some(open) = name.find('[') else { return vec![name] };
    if open == 0 || !name.ends_with(']') {
        return vec![name];
    }
    let mut path = vec![&name[..open]];
    // One more than may be, to be refused for it: a long name has very many.
    path.extend(name[open + 1..name.len() - 1].split("][").take(MAX_DEPTH));
    path
}

fn insert(into: &mut Map<String, Value>, path: &[&str], value: Value) -> Result<(), ()> {
    let (first, rest) = path.split_first().ok_or(())?;
    match rest {
        [] => {
            into.insert((*first).to_owned(), value);
            Ok(())
        }
        ["", ..] => {
            let list = into.entry((*first).to_owned()).or_insert_with(|| Value::Array(Vec::new()));
            append(list.as_array_mut().ok_or(())?, &rest[1..], value)
        }
        _ => {
            let map = into.entry((*first).to_owned()).or_insert_with(|| Value::Object(Map::new()));
            insert(map.as_object_mut().ok_or(())?, rest, value)
        }
    }
}

/// `list[]=v` appends; `list[][key]=v` goes into the last element until that has the key.
fn append(list: &mut Vec<Value>, path: &[&str], value: Value) -> Result<(), ()> {
    let Some((key, _)) = path.split_first() else {
        list.push(value);
        return Ok(());
    };
    let fits = matches!(list.last(), Some(Value::Object(last)) if path.len() > 1 || !last.contains_key(*key));
    if !fits {
        list.push(Value::Object(Map::new()));
    }
    match list.last_mut() {
        Some(Value::Object(last)) => insert(last, path, value),
        _ => Err(()),
    }
}

/// The name of the outermost member that holds a NUL somewhere.
fn nul_in(tree: &Value) -> Option<&str> {
    let members = tree.as_object()?;
    members
        .iter()
        .find(|(name, value)| name.contains('\0') || has_nul(value))
        .map(|(name, _)| name.trim_end_matches('\0'))
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(list) => list.iter().any(has_nul),
        Value::Object(map) => map.iter().any(|(name, value)| name.contains('\0') || has_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tree(pairs: &[(&str, &str)]) -> Result<Value, Refused> {
        let mut tree = Tree::default();
        for (name, value) in pairs {
            tree.add(name, (*value).into())?;
        }
        tree.finish()
    }

    #[test]
    fn every_form_of_the_contract_is_understood() {
        for (pairs, expected) in [
            (&[("a", "1"), ("b[]", "2"), ("b[]", "3")][..], json!({"a": "1", "b": ["2", "3"]})),
            (&[("source[privacy]", "public")], json!({"source": {"privacy": "public"}})),
            (&[("f[0][name]", "x"), ("f[0][value]", "y")], json!({"f": {"0": {"name": "x", "value": "y"}}})),
            (
                &[("m[][id]", "1"), ("m[][d]", "a"), ("m[][id]", "2")],
                json!({"m": [{"id": "1", "d": "a"}, {"id": "2"}]}),
            ),
            (&[("poll[options][]", "a"), ("poll[options][]", "b")], json!({"poll": {"options": ["a", "b"]}})),
            (&[("[", "1"), ("]", "2"), ("a[", "3")], json!({"[": "1", "]": "2", "a[": "3"})),
        ] {
            assert_eq!(tree(pairs), Ok(expected));
        }
    }

    #[test]
    fn nonsense_is_an_error_and_no_panic() {
        assert_eq!(tree(&[("a", "1"), ("a[]", "2")]), Err(Refused::TwoThings("a".to_owned())));
        assert_eq!(tree(&[("a[b][c][d][e][f][g][h][i]", "")]), Err(Refused::TooDeep));
        assert_eq!(tree(&[("a[b]", "\0")]), Err(Refused::Nul("a".to_owned())));
        assert_eq!(tree(&vec![("a[]", ""); MAX_PARAMETERS + 1]), Err(Refused::TooMany));
    }
}
