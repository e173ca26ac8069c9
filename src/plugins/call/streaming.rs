//! Streaming messages to connected clients (contract: interface `streaming`): published after the commit.

use async_trait::async_trait;
use rookery_plugin_host::host::Streaming;
use rookery_plugin_host::imports::streaming::Message;
use rookery_plugin_host::imports::types::Failure;
use serde::de::IgnoredAny;

use super::{Call, Mode};
use crate::failure::{at_most, denied, failure};
use context::change::Change;

/// Most messages of one call.
const MESSAGES: usize = 1_000;
/// Largest payload, in bytes.
const SIZE: usize = 64 * 1024;
/// Longest name of an event, in bytes.
const NAME: usize = 64;

#[async_trait]
impl Streaming for Call {
    async fn publish(&self, messages: Vec<Message>) -> Result<u32, Failure> {
        at_most(messages.len(), MESSAGES, "messages")?;
        let messages: Vec<Change> =
            messages.into_iter().map(|message| self.message(message)).collect::<Result<_, _>>()?;
        let count = u32::try_from(messages.len()).unwrap_or(u32::MAX);
        match self.mode {
            Mode::Ambient => self.later(messages),
            Mode::Read => messages.into_iter().for_each(|message| self.cx.live.tell(message)),
        }
        Ok(count)
    }
}

impl Call {
    fn message(&self, message: Message) -> Result<Change, Failure> {
        let Message { topic, event, payload } = message;
        at_most(payload.len(), SIZE, "bytes of payload")?;
        let wrong = |why: &str| failure(422, "streaming.invalid", why);
        let is_name = |name: &str| {
            !name.is_empty()
                && name.len() <= NAME
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
        };
        if !is_name(&event) {
            return Err(wrong("An event has a name of letters, digits, dots, lines and underscores"));
        }
        if serde_json::from_str::<IgnoredAny>(&payload).is_err() {
            return Err(wrong("A payload must be JSON"));
        }
        Ok(Change::TopicMessage { topic: self.topic(&topic)?, event, payload, scopes: self.scopes(&topic) })
    }

    /// The scopes of which a token needs one to receive the event: the plugin's own scopes, for a message to one token.
    fn scopes(&self, topic: &str) -> Vec<String> {
        match topic.split_once(':') {
            Some(("token", _)) => self.active.manifest.scopes.iter().map(|scope| scope.name.clone()).collect(),
            _ => Vec::new(),
        }
    }

    /// The topic as the server knows it. The plugin's own topics are prefixed with its name, so that plugins share
    /// none.
    fn topic(&self, topic: &str) -> Result<String, Failure> {
        let (name, id) = match topic.split_once(':') {
            None => (topic, None),
            Some((name, id)) => (name, Some(id)),
        };
        if !self.granted().topics.iter().any(|granted| granted == name) {
            return Err(denied(&format!("topics = [{name:?}]")));
        }
        let id = match id {
            None if is_person(name) => {
                return Err(failure(422, "streaming.invalid", format!("Say whose: {name}:ID")));
            }
            None => return Ok(format!("{}/{name}", self.active.name())),
            Some(id) => id.parse::<i64>().map_err(|_| failure(422, "streaming.invalid", "An id is a number")),
        }?;
        Ok(if is_person(name) { format!("{name}:{id}") } else { format!("{}/{name}:{id}", self.active.name()) })
    }
}

/// True for the streams of an account or of one of its tokens.
pub(crate) fn is_person(topic: &str) -> bool {
    matches!(topic, "user" | "token")
}
