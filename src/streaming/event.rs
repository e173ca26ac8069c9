//! An event for many connections: encoded once for each form in which it is sent.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;

use crate::connection::{Connection, Form};

/// An event, and its encodings so far.
#[derive(Debug)]
pub(crate) struct Event<'a> {
    name: &'a str,
    payload: Option<&'a str>,
    /// The payload as a JSON string.
    quoted: Option<String>,
    /// By the label of the subscription.
    frames: HashMap<Arc<str>, Utf8Bytes>,
    message: Option<Utf8Bytes>,
}

impl<'a> Event<'a> {
    /// The event `name`; `payload` is JSON, or a bare id.
    pub(crate) fn new(name: &'a str, payload: Option<&'a str>) -> Self {
        Self { name, payload, quoted: None, frames: HashMap::new(), message: None }
    }

    /// Sends it to `connection`, which subscribed under `label`.
    pub(crate) fn send(&mut self, connection: &Connection, label: &Arc<str>) {
        let text = match connection.form {
            Form::WebSocket => self.frame(label),
            Form::EventSource => self.message(),
        };
        connection.send(text);
    }

    /// As a text frame (docs/contract/streaming.md#6-websocket).
    fn frame(&mut self, label: &Arc<str>) -> Utf8Bytes {
        if let Some(frame) = self.frames.get(label) {
            return frame.clone();
        }
        let name = self.name;
        let text = match self.payload {
            None => format!("{{\"stream\":{label},\"event\":\"{name}\"}}"),
            Some(payload) => {
                let quoted = self.quoted.get_or_insert_with(|| quote(payload));
                format!("{{\"stream\":{label},\"event\":\"{name}\",\"payload\":{quoted}}}")
            }
        };
        let frame = Utf8Bytes::from(text);
        self.frames.insert(Arc::clone(label), frame.clone());
        frame
    }

    /// As a server-sent event (docs/contract/streaming.md#5-server-sent-events). Line breaks of the payload, which
    /// are white space in JSON, become spaces: they would end the event.
    fn message(&mut self) -> Utf8Bytes {
        let (name, payload) = (self.name, self.payload.unwrap_or_default());
        let message = || {
            let payload = payload.replace(['\r', '\n'], " ");
            format!("event: {name}\ndata: {payload}\n\n").into()
        };
        self.message.get_or_insert_with(message).clone()
    }
}

/// `text` as a JSON string.
pub(crate) fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_carry_payloads_as_strings() {
        let mut event = Event::new("update", Some("{\"id\":\"1\"}"));
        assert_eq!(
            event.frame(&"[\"user\"]".into()).as_str(),
            "{\"stream\":[\"user\"],\"event\":\"update\",\"payload\":\"{\\\"id\\\":\\\"1\\\"}\"}"
        );
        assert_eq!(event.message().as_str(), "event: update\ndata: {\"id\":\"1\"}\n\n");
        let mut event = Event::new("bell", Some("{\r\n\"id\":\n\n\"1\"\r}"));
        assert_eq!(event.message().as_str(), "event: bell\ndata: {  \"id\":  \"1\" }\n\n");
        let mut event = Event::new("filters_changed", None);
        assert_eq!(event.frame(&"[\"user\"]".into()).as_str(), "{\"stream\":[\"user\"],\"event\":\"filters_changed\"}");
        assert_eq!(event.message().as_str(), "event: filters_changed\ndata: \n\n");
    }
}
