//! Streams in the OpenAPI document: each channel as the path of its server-sent events, and the WebSocket that has them all.
//!
//! OpenAPI 3.1 has no word for a sequence of events, so `x-events` of an operation maps their names to the schemas of their
//! payloads: a JSON document, or a text where the type is `string`. Channels of plugins come from their manifests.
//!
//! Spec: docs/contract/streaming.md

use axum::http::Method;
use serde_json::{Map, Value, json};

use super::{add_operation, schema_named};
use crate::operation::openapi::security;
use crate::operation::{Caller, Operation, Parameter, Place};

/// The path of the WebSocket, and the prefix of channel paths.
const ROOT: &str = "/api/v1/streaming";

/// Status events.
const STATUSES: &[&str] = &["update", "status.update", "delete"];

/// Events of every user stream.
const ANNOUNCED: &[&str] = &["announcement", "announcement.reaction", "announcement.delete", "filters_changed"];

/// Notification events.
const NOTIFIED: &[&str] = &["notification", "notifications_merged"];

/// A channel of the server's own: its name, the scopes of which one is needed, its parameters, and its events.
type Channel = (&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static [&'static str]]);

/// Every channel that has a path.
const CHANNELS: &[Channel] = &[
    ("user", &["read", "read:statuses"], &[], &[STATUSES, NOTIFIED, ANNOUNCED]),
    ("user:notification", &["read", "read:notifications"], &[], &[NOTIFIED]),
    ("public", &[], &["only_media"], &[STATUSES]),
    ("public:local", &[], &["only_media"], &[STATUSES]),
    ("public:remote", &[], &["only_media"], &[STATUSES]),
    ("hashtag", &[], &["tag"], &[STATUSES]),
    ("hashtag:local", &[], &["tag"], &[STATUSES]),
    ("list", &["read", "read:statuses"], &["list"], &[STATUSES]),
    ("direct", &["read", "read:statuses"], &[], &[&["conversation"]]),
];

/// Adds the streams of the server to `paths`.
pub(crate) fn add(paths: &mut Map<String, Value>) {
    add_socket(paths);
    let health = Operation::new(Method::GET, format!("{ROOT}/health"));
    let responses =
        json!({ "200": { "description": "OK", "content": { "text/plain": { "schema": { "const": "OK" } } } } });
    add_operation(paths, &health, "streaming")["responses"] = responses;
    for (name, scopes, parameters, events) in CHANNELS {
        let parameters = parameters.iter().map(|name| parameter(name)).collect();
        add_channel(paths, name, scopes, parameters, &events.concat());
    }
}

/// Adds a channel of a plugin, whose parameter has the name of the channel, to `paths`.
pub fn add_extension(paths: &mut Map<String, Value>, name: &str) {
    let own = Parameter { required: false, ..Parameter::required(name, Place::Query, json!({ "type": "string" })) };
    add_channel(paths, name, &["read", "read:statuses"], vec![own], STATUSES);
}

fn add_channel(
    paths: &mut Map<String, Value>,
    name: &str,
    scopes: &[&str],
    parameters: Vec<Parameter>,
    events: &[&str],
) {
    let mut operation = Operation::new(Method::GET, format!("{ROOT}/{}", name.replace(':', "/")));
    operation.parameters.extend(parameters);
    let object = add_operation(paths, &operation, "streaming");
    object["security"] = security(Caller::User, scopes).into();
    object["description"] =
        format!("Server-sent events of the channel {name}. Plugins may send others besides.").into();
    object["responses"] = json!({
        "200": { "description": "Events until the client leaves", "content": { "text/event-stream": {} } },
        "default": failure(),
    });
    object["x-events"] = carried(events);
}

fn add_socket(paths: &mut Map<String, Value>) {
    let mut operation = Operation::new(Method::GET, ROOT);
    let names: Vec<&str> = CHANNELS.iter().map(|(name, ..)| *name).collect();
    let names = names.join(", ");
    let text = format!("A channel to begin with: {names}, or one of a plugin.");
    operation.parameters.push(Parameter {
        required: false,
        ..Parameter::required("stream", Place::Query, json!({ "type": "string", "description": text }))
    });
    operation.parameters.extend(["tag", "list"].map(|name| Parameter { required: false, ..parameter(name) }));
    let object = add_operation(paths, &operation, "streaming");
    object["security"] = security(Caller::User, &[]).into();
    object["description"] = "A WebSocket, by HTTP/1.1 or HTTP/2. Messages of the client are `type` (`subscribe` or \
                             `unsubscribe`), `stream` and its parameters; messages of the server are `stream`, `event` and `payload`."
        .into();
    object["responses"] = json!({ "101": { "description": "The protocol is switched" }, "default": failure() });
    object["x-events"] = carried(&[STATUSES, NOTIFIED, ANNOUNCED, &["conversation"]].concat());
}

fn failure() -> Value {
    json!({ "description": "Failure", "content": { "application/json": { "schema": schema_named("Error") } } })
}

fn parameter(name: &str) -> Parameter {
    let (required, schema) = match name {
        "only_media" => (false, json!({ "type": "boolean", "description": "Statuses with media alone." })),
        "tag" => (true, json!({ "type": "string", "description": "The name of the hashtag." })),
        _ => (true, json!({ "type": "string", "pattern": "^[0-9]+$", "description": "The id of an own one." })),
    };
    Parameter { required, ..Parameter::required(name, Place::Query, schema) }
}

/// The payload schemas of `events` by name.
fn carried(events: &[&str]) -> Value {
    events.iter().map(|event| ((*event).to_owned(), payload(event))).collect::<Map<String, Value>>().into()
}

fn payload(event: &str) -> Value {
    match event {
        "update" | "status.update" => schema_named("Status"),
        "notification" => schema_named("Notification"),
        "conversation" => schema_named("Conversation"),
        "announcement" => schema_named("Announcement"),
        "announcement.reaction" => json!({
            "type": "object",
            "properties": {
                "name": { "type": "string" },
                "count": { "type": "integer", "minimum": 0 },
                "announcement_id": { "type": "string", "pattern": "^[0-9]+$" },
            },
            "required": ["name", "count", "announcement_id"],
        }),
        "filters_changed" => json!({ "type": "string", "maxLength": 0, "description": "Nothing." }),
        _ => json!({ "type": "string", "pattern": "^[0-9]+$" }),
    }
}
