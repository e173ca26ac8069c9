//! Parameters as clients send them, gathered into one tree: `a[]=1`, `a[b]=c`, `list[][key]=v`, `fields[0][name]=x`.
//!
//! Pure. The forms are those of the contract's rules, section 1. Depth and number are bounded.

use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// Deepest nesting of brackets in one name.
const MAX_DEPTH: usize = 8;
/// Most parameters in one request.
const MAX_PARAMETERS: usize = 2000;

/// The tree under construction.
#[derive(Debug, Default)]
pub(super) struct Tree {
    root: Map<String, Value>,
    count: usize,
}

impl Tree {
    /// Adds every pair of a query string or form body.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for a name nested too deep, used as two different things, or too many of them.
    pub(super) fn add_form(&mut self, text: &[u8]) -> Result<()> {
        for (name, value) in url::form_urlencoded::parse(text) {
            self.add(&name, Value::String(value.into_owned()))?;
        }
        Ok(())
    }

    /// Adds one value under a bracketed name.
    ///
    /// # Errors
    /// As [`Tree::add_form`].
    pub(super) fn add(&mut self, name: &str, value: Value) -> Result<()> {
        self.count += 1;
        if self.count > MAX_PARAMETERS {
            return Err(Error::bad_request(format!("more than {MAX_PARAMETERS} parameters")));
        }
        let path = segments(name);
        if path.len() > MAX_DEPTH {
            return Err(Error::bad_request("a parameter name is nested too deep"));
        }
        insert(&mut self.root, &path, value)
            .map_err(|()| Error::bad_request(format!("{} is sent as two different things", path[0])))
    }

    /// Lays the members of a JSON object over what is there.
    pub(super) fn merge(&mut self, object: Map<String, Value>) {
        self.root.extend(object);
    }

    /// The finished tree.
    ///
    /// # Errors
    /// [`Error::Invalid`] when some text holds a NUL character, which no database can.
    pub(super) fn finish(self) -> Result<Value> {
        let tree = Value::Object(self.root);
        match nul_in(&tree) {
            Some(name) => Err(Error::invalid(format!("{name} must not contain a NUL character"))),
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
    path.extend(name[open + 1..name.len() - 1].split("]["));
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

    fn tree(form: &str) -> Value {
        let mut tree = Tree::default();
        tree.add_form(form.as_bytes()).expect("well-formed");
        tree.finish().expect("no NUL")
    }

    #[test]
    fn every_form_of_the_contract_is_understood() {
        assert_eq!(tree("a=1&b[]=2&b[]=3"), json!({"a": "1", "b": ["2", "3"]}));
        assert_eq!(tree("source[privacy]=public"), json!({"source": {"privacy": "public"}}));
        assert_eq!(tree("f[0][name]=x&f[0][value]=y"), json!({"f": {"0": {"name": "x", "value": "y"}}}));
        assert_eq!(tree("m[][id]=1&m[][d]=a&m[][id]=2"), json!({"m": [{"id": "1", "d": "a"}, {"id": "2"}]}));
        assert_eq!(tree("poll[options][]=a&poll[options][]=b"), json!({"poll": {"options": ["a", "b"]}}));
    }

    #[test]
    fn nonsense_is_an_error_and_no_panic() {
        let mut twice = Tree::default();
        assert!(twice.add_form(b"a=1&a[]=2").is_err());
        let mut deep = Tree::default();
        assert!(deep.add("a[b][c][d][e][f][g][h][i]", Value::Null).is_err());
        let mut nul = Tree::default();
        nul.add_form(b"a[b]=%00").expect("parses");
        assert!(nul.finish().is_err());
        assert_eq!(tree("[=1&]=2&a[=3"), json!({"[": "1", "]": "2", "a[": "3"}));
    }
}
