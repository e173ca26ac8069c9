//! An [`Operation`] as the operation object of an OpenAPI document.
//!
//! The [document](crate::openapi) around it has the schemas of entities and the security schemes.
//!
//! Spec: <https://spec.openapis.org/oas/v3.1.1.html#operation-object>

use serde_json::{Map, Value, json};

use super::entities::component;
use super::{Caller, Operation, Parameter, Place, Security};

impl Operation {
    /// The operation object.
    #[must_use]
    pub fn openapi(&self) -> Value {
        let parameters: Vec<Value> = self.parameters.iter().filter_map(parameter).collect();
        let mut object = Map::from_iter([
            ("parameters".to_owned(), parameters.into()),
            ("security".to_owned(), security(self.security.caller, self.security.scopes).into()),
            ("responses".to_owned(), responses(&self.response)),
        ]);
        object.extend(self.body().map(|body| ("requestBody".to_owned(), body)));
        object.extend(beyond_tokens(&self.security).map(|text| ("description".to_owned(), text.into())));
        object.into()
    }

    fn body(&self) -> Option<Value> {
        let sent = |place: Place| self.parameters.iter().filter(|sent| sent.place == place).collect::<Vec<_>>();
        let (plain, files) = (sent(Place::Body), sent(Place::File));
        let mut content = Map::new();
        if !plain.is_empty() && !files.iter().any(|file| file.required) {
            for kind in ["application/json", "application/x-www-form-urlencoded"] {
                content.insert(kind.to_owned(), json!({ "schema": form(&plain) }));
            }
        }
        if !files.is_empty() {
            content.insert("multipart/form-data".to_owned(), json!({ "schema": form(&[plain, files].concat()) }));
        }
        (!content.is_empty()).then(|| json!({ "content": content }))
    }
}

/// The parameter object; `None` for a parameter in the body.
fn parameter(parameter: &Parameter) -> Option<Value> {
    let place = match parameter.place {
        Place::Path => "path",
        Place::Query => "query",
        Place::Header => "header",
        Place::Body | Place::File => return None,
    };
    let mut schema = parameter.schema.clone();
    let kind = schema["type"].as_str().unwrap_or_default().to_owned();
    let name = if kind == "array" { format!("{}[]", parameter.name) } else { parameter.name.clone() };
    let mut object = json!({ "name": name, "in": place, "required": parameter.required });
    if let Some(description) = schema.as_object_mut().and_then(|schema| schema.remove("description")) {
        object["description"] = description;
    }
    if kind == "object" {
        object["style"] = "deepObject".into();
    }
    object["schema"] = schema;
    Some(object)
}

fn form(fields: &[&Parameter]) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|field| (field.name.clone(), field.schema.clone())).collect();
    let required: Vec<&str> = fields.iter().filter(|field| field.required).map(|field| field.name.as_str()).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// Requirements on the caller beyond the token.
fn beyond_tokens(security: &Security) -> Option<String> {
    match security {
        Security { caller: Caller::Staff(permission), .. } => {
            Some(format!("For users whose role has the permission {permission}."))
        }
        Security { any_state: true, .. } => Some("Open to accounts that are not confirmed or approved yet.".to_owned()),
        _ => None,
    }
}

/// Alternatives: one per scheme and scope, since a list of scopes would ask for all of them.
#[must_use]
pub fn security(caller: Caller, scopes: &[&str]) -> Vec<Value> {
    let schemes: &[&str] = match caller {
        Caller::Public => &[],
        Caller::Optional | Caller::Application => &["user", "application"],
        Caller::User | Caller::Staff(_) => &["user"],
        Caller::Session => &["session"],
    };
    let scopes: Vec<&[&str]> = if scopes.is_empty() { vec![&[]] } else { scopes.chunks(1).collect() };
    let tokens = schemes.iter().flat_map(|scheme| scopes.iter().map(move |scopes| json!({ *scheme: scopes })));
    (caller == Caller::Optional).then(|| json!({})).into_iter().chain(tokens).collect()
}

fn responses(schema: &str) -> Value {
    if schema.is_empty() {
        return json!({ "200": { "description": "Success" } });
    }
    responses_of(&schema_named(schema))
}

/// The responses of an operation that succeeds with `schema`.
#[must_use]
pub fn responses_of(schema: &Value) -> Value {
    let content = |schema: &Value| json!({ "application/json": { "schema": schema } });
    json!({
        "200": { "description": "Success", "content": content(schema) },
        "default": { "description": "Failure", "content": content(&schema_named("Error")) },
    })
}

/// The schema of this name: `Status`, `Status[]`, `Status | ScheduledStatus`, `string[]`, `boolean`, `{}`.
#[must_use]
pub fn schema_named(name: &str) -> Value {
    if name.contains('|') {
        return json!({ "anyOf": name.split('|').map(|one| schema_named(one.trim())).collect::<Vec<_>>() });
    }
    match (name.strip_suffix("[]"), name) {
        (Some(element), _) => json!({ "type": "array", "items": schema_named(element) }),
        (None, "{}") => json!({ "type": "object", "maxProperties": 0 }),
        (None, "string" | "boolean") => json!({ "type": name }),
        (None, entity) => json!({ "$ref": component(entity) }),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Method;

    use super::*;
    use crate::router;

    fn operation(method: &Method, path: &str) -> Operation {
        let mut all = router::operations().into_iter();
        all.find(|operation| operation.method == *method && operation.path == path).expect("a route")
    }

    #[test]
    fn operation_with_files_has_two_bodies() {
        let description = json!({ "type": "string", "description": "Alternative text of at most 1,500 characters." });
        let focus = json!({
            "type": "string",
            "description": "The point to keep in view when cropping: `x,y`, each from -1 to 1.",
        });
        let thumbnail = json!({
            "type": "string",
            "contentMediaType": "application/octet-stream",
            "description": "For video and sound; an image makes its own.",
        });
        let fields = json!({ "description": description, "focus": focus });
        let plain = json!({ "schema": { "type": "object", "properties": fields, "required": [] } });
        let fields = json!({ "description": description, "focus": focus, "thumbnail": thumbnail });
        let multipart = json!({ "schema": { "type": "object", "properties": fields, "required": [] } });
        let content = |answer: &str| json!({ "application/json": { "schema": { "$ref": format!("#/components/schemas/{answer}") } } });
        assert_eq!(
            operation(&Method::PUT, "/api/v1/media/{id}").openapi(),
            json!({
                "parameters": [{
                    "name": "id",
                    "in": "path",
                    "required": true,
                    "schema": { "type": "string", "pattern": "^-?[0-9]+$" },
                }],
                "requestBody": { "content": {
                    "application/json": plain,
                    "application/x-www-form-urlencoded": plain,
                    "multipart/form-data": multipart,
                } },
                "security": [{ "user": ["write:media"] }],
                "responses": {
                    "200": { "description": "Success", "content": content("MediaAttachment") },
                    "default": { "description": "Failure", "content": content("Error") },
                },
            })
        );
    }

    #[test]
    fn parameters_of_a_list_are_in_the_query() {
        let document = operation(&Method::GET, "/api/v1/timelines/tag/{hashtag}").openapi();
        let all = document["parameters"].as_array().expect("a list");
        let names: Vec<_> = all.iter().map(|parameter| parameter["name"].as_str().expect("a name")).collect();
        let own = ["any[]", "all[]", "none[]", "local", "remote", "only_media", "lang"];
        assert_eq!(names, [["hashtag", "max_id", "since_id", "min_id", "limit"].as_slice(), own.as_slice()].concat());
        assert_eq!((&all[4]["schema"]["default"], &all[4]["schema"]["maximum"]), (&json!(20), &json!(40)));
        assert_eq!(all[5]["schema"], json!({ "type": "array", "items": { "type": "string" } }));
        assert_eq!(
            document["security"],
            json!([{}, { "user": ["read:statuses"] }, { "application": ["read:statuses"] }])
        );
        assert!(document.get("requestBody").is_none());
        let schema = &document["responses"]["200"]["content"]["application/json"]["schema"];
        assert_eq!(*schema, json!({ "type": "array", "items": { "$ref": "#/components/schemas/Status" } }));
    }

    #[test]
    fn account_that_may_be_unconfirmed_is_said() {
        let document = operation(&Method::GET, "/api/v1/emails/check_confirmation").openapi();
        assert_eq!(document["description"], "Open to accounts that are not confirmed or approved yet.");
    }

    #[test]
    fn required_parameters_say_so() {
        let document = operation(&Method::POST, "/api/v1/apps").openapi();
        let schema = &document["requestBody"]["content"]["application/json"]["schema"];
        assert_eq!(schema["required"], json!(["client_name", "redirect_uris"]));
        let upload = operation(&Method::POST, "/api/v2/media").openapi();
        let kinds: Vec<_> = upload["requestBody"]["content"].as_object().expect("bodies").keys().collect();
        assert_eq!(kinds, ["multipart/form-data"], "a required file is in no other body");
    }
}
