//! The schemas of entities, as they stand in an OpenAPI document: references between them name its components.

use std::sync::LazyLock;

use serde_json::{Map, Value};

/// Name and schema, as written.
static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/entities.rs"));

/// Every schema by its name, sorted.
pub(crate) static ENTITIES: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    let read = |(name, text): &(&str, &str)| {
        let mut schema: Value = serde_json::from_str(text).ok()?;
        let members = schema.as_object_mut()?;
        members.remove("$schema");
        members.remove("$id");
        refer_to_components(name, &mut schema);
        Some(((*name).to_owned(), schema))
    };
    FILES.iter().filter_map(read).collect()
});

/// Files name each other (`Status.schema.json`) and their own parts (`#/$defs/day`).
fn refer_to_components(own: &str, schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get_mut("$ref") {
                *reference = match reference.strip_prefix('#') {
                    Some(part) => component(own) + part,
                    None => component(reference.trim_end_matches(".schema.json")),
                };
            }
            members.values_mut().for_each(|member| refer_to_components(own, member));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| refer_to_components(own, item)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The reference to the schema `name`.
#[must_use]
pub fn component(name: &str) -> String {
    format!("#/components/schemas/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_a_schema_whose_references_are_there() {
        assert_eq!(ENTITIES.len(), FILES.len());
        let text = serde_json::to_string(&*ENTITIES).expect("JSON");
        for reference in text.split("\"$ref\":\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let path = reference.strip_prefix("#/components/schemas/").expect(reference);
            let mut found = ENTITIES.get(path.split('/').next().expect(path)).expect(path);
            for part in path.split('/').skip(1) {
                found = found.get(part).expect(path);
            }
        }
    }
}
