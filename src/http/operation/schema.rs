//! The JSON Schema of a type that is a parameter.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use model::params::REQUIRED;

/// The schema of `T`, whole and without references.
///
/// Null is left out of it: a parameter is sent or not, and whether it must be is not its schema's to say.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(members) = schema.as_object_mut() {
        members.remove("title");
    }
    without_null(&mut schema);
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        fields.values_mut().for_each(list_required);
    }
    schema
}

/// Moves the marks of required members of `schema` into its own list of them; the marks of the parameters themselves
/// stay.
fn list_required(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Object(fields)) = members.get_mut("properties") {
                let marked = fields.iter_mut().filter_map(|(name, field)| {
                    let mark = field.as_object_mut()?.remove(REQUIRED)?;
                    (mark == true).then(|| Value::from(name.as_str()))
                });
                let marked: Vec<Value> = marked.collect();
                if !marked.is_empty() {
                    members.insert("required".to_owned(), Value::Array(marked));
                }
            }
            members.values_mut().for_each(list_required);
        }
        Value::Array(items) => items.iter_mut().for_each(list_required),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn without_null(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.get("default").is_some_and(Value::is_null) {
                members.remove("default");
            }
            if let Some(Value::Array(types)) = members.get_mut("type") {
                types.retain(|one| one != "null");
                if let [one] = types.as_mut_slice() {
                    let one = one.take();
                    members.insert("type".to_owned(), one);
                }
            }
            if let Some(Value::Array(values)) = members.get_mut("enum") {
                values.retain(|value| !value.is_null());
            }
            members.values_mut().for_each(without_null);
        }
        Value::Array(items) => items.iter_mut().for_each(without_null),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
