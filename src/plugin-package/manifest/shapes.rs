//! The shapes of request and response bodies of routes, for the API's documentation: the name of an entity of the server or of
//! `[entities]`, or a JSON Schema.
//!
//! For documentation only: nothing is validated against it at run time.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Manifest, Route, validator};

/// Words that are no entities.
const WORDS: [&str; 3] = ["{}", "string", "boolean"];
/// Most entities of a plugin.
const MOST: usize = 64;

/// The shape of a body or a response.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "the name of an entity, such as \"Account[]\", or a JSON Schema")]
pub enum Shape {
    /// `Deck`, `Deck[]`, `Deck | Status`, `string`, `boolean` or `{}`.
    Named(String),
    /// A JSON Schema (2020-12) whose references are names of entities: `{ "$ref" = "Deck" }`.
    Schema(Map<String, Value>),
}

impl Shape {
    /// The entities that it names.
    fn names(&self) -> Vec<String> {
        match self {
            Self::Named(text) => {
                let named = text.split('|').map(|one| one.trim().trim_end_matches("[]").to_owned());
                named.filter(|name| !WORDS.contains(&name.as_str())).collect()
            }
            Self::Schema(members) => {
                let mut names = Vec::new();
                members.iter().for_each(|(name, value)| add_references(name, value, &mut names));
                names
            }
        }
    }
}

fn add_references(name: &str, value: &Value, names: &mut Vec<String>) {
    match value {
        Value::String(text) if name == "$ref" => names.push(text.clone()),
        Value::Object(members) => members.iter().for_each(|(name, value)| add_references(name, value, names)),
        Value::Array(items) => items.iter().for_each(|item| add_references("", item, names)),
        _ => {}
    }
}

/// Checks the entities of a manifest, and the bodies and responses of its routes.
///
/// # Errors
/// The first fault, as a sentence.
pub(super) fn check(manifest: &Manifest) -> Result<(), String> {
    let own: BTreeSet<&str> = manifest.entities.keys().map(String::as_str).collect();
    if own.len() > MOST {
        return Err(format!("[entities] has more than {MOST}"));
    }
    for (name, schema) in &manifest.entities {
        let plain =
            name.chars().all(|c| c.is_ascii_alphanumeric()) && name.starts_with(|c: char| c.is_ascii_uppercase());
        if !plain {
            return Err(format!("entity {name:?}: a name has letters and digits, a capital first"));
        }
        one(&Shape::Schema(schema.clone()), &own).map_err(|problem| format!("entity {name:?}: {problem}"))?;
    }
    for Route { id, body, response, .. } in &manifest.routes {
        for (key, shape) in [("body", body), ("response", response)] {
            let Some(shape) = shape else { continue };
            one(shape, &own).map_err(|problem| format!("route {id:?}, {key}: {problem}"))?;
        }
    }
    Ok(())
}

/// The entities of the API, which a manifest may name.
const ENTITIES: &[&str] = include!(concat!(env!("OUT_DIR"), "/entities.rs"));

fn one(shape: &Shape, own: &BTreeSet<&str>) -> Result<(), String> {
    let unknown = |name: &&String| !own.contains(name.as_str()) && !ENTITIES.contains(&name.as_str());
    if let Some(name) = shape.names().iter().find(unknown) {
        return Err(format!("there is no entity {name:?}: add it to [entities], or write a JSON Schema"));
    }
    match shape {
        Shape::Named(_) => Ok(()),
        Shape::Schema(members) => {
            let mut schema = Value::Object(members.clone());
            rename_references(&mut schema, &|_| None);
            validator(&schema).map(drop)
        }
    }
}

/// Replaces each reference by what `renamed` makes of it; `None` takes it out.
pub fn rename_references(schema: &mut Value, renamed: &impl Fn(&str) -> Option<String>) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(name)) = members.get("$ref") {
                match renamed(name) {
                    Some(to) => drop(members.insert("$ref".to_owned(), to.into())),
                    None => drop(members.shift_remove("$ref")),
                }
            }
            members.values_mut().for_each(|member| rename_references(member, renamed));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename_references(item, renamed)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    fn manifest(more: &str) -> String {
        format!(
            "[plugin]\nname = \"notes\"\nversion = \"1.0.0\"\napi = \"0.1\"\ntitle = \"Notes\"\nlicense = \"MIT\"\n\
             wasm = \"notes.wasm\"\n{more}"
        )
    }

    fn route(more: &str) -> String {
        manifest(&format!(
            "[[route]]\nid = \"show\"\nmethod = \"POST\"\npath = \"/api/v1/notes\"\nauth = \"user\"\n\
             scopes = [\"write:lists\"]\n{more}"
        ))
    }

    #[test]
    fn entities_and_schemas_are_accepted() {
        let text = route(
            "body = { properties = { title = { type = \"string\" } }, required = [\"title\"] }\n\
             response = \"Note[] | Status\"\n\
             [entities.Note]\ntype = \"object\"\nproperties = { of = { \"$ref\" = \"Account\" } }\n",
        );
        let read = parse(&text).unwrap();
        assert!(read.routes[0].body.is_some() && read.entities.contains_key("Note"));
    }

    #[test]
    fn unknown_entity_or_schema_is_refused() {
        for (more, why) in [
            ("response = \"Nothing\"\n", "no entity \"Nothing\""),
            ("response = 1\n", "name of an entity"),
            ("response = { \"$ref\" = \"#/components/Status\" }\n", "no entity"),
            ("body = { type = \"nonsense\" }\n", "no JSON Schema"),
            ("[entities.note]\ntype = \"object\"\n", "capital first"),
        ] {
            let problem = parse(&route(more)).unwrap_err().to_string();
            assert!(problem.contains(why), "{problem}");
        }
    }
}
