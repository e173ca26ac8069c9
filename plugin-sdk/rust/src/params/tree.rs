//! Parameters as clients send them, gathered into one tree: `a[]=1`, `a[b]=c`, `list[][key]=v`, `fields[0][name]=x`.
//!
//! As the server does it for its own routes.

use serde_json::{Map, Value};

use crate::{Error, Result};

/// Deepest nesting of brackets in one name.
const MAX_DEPTH: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Tree {
    root: Map<String, Value>,
}

impl Tree {
    /// Adds every pair of a query or form.
    pub(super) fn add_pairs(&mut self, pairs: &[(String, String)]) -> Result<()> {
        for (name, value) in pairs {
            let path = segments(name);
            if path.len() > MAX_DEPTH {
                return Err(Error::bad_request("a parameter name is nested too deep"));
            }
            insert(&mut self.root, &path, Value::String(value.clone()))
                .map_err(|()| Error::bad_request(format!("{} is sent as two different things", path[0])))?;
        }
        Ok(())
    }

    /// Lays the members of a JSON object over what is there.
    pub(super) fn merge(&mut self, object: Map<String, Value>) {
        self.root.extend(object);
    }

    /// The finished tree; a text with a NUL character, which no database can hold, is refused.
    pub(super) fn finish(self) -> Result<Value> {
        match self.root.iter().find(|(_, value)| has_nul(value)) {
            Some((name, _)) => Err(Error::invalid(format!("{name} must not contain a NUL character"))),
            None => Ok(Value::Object(self.root)),
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

fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(list) => list.iter().any(has_nul),
        Value::Object(map) => map.values().any(has_nul),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
