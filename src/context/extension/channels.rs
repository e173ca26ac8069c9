//! Channels of streams that extensions serve.

use std::sync::Arc;

use async_trait::async_trait;

use crate::{Cx, Result};
use model::Actor;
use store::feed::Feed;

/// Asks extensions about channels of streams. The default of every method is the behaviour of a server without extensions.
#[async_trait]
pub trait ServeChannels {
    /// The generation of the extension that serves the channel of streams `name`, if one does.
    fn channel_generation(&self, _name: &str) -> Option<u64> {
        None
    }

    /// What the channel `name` shows `actor`, who asks for it with `params`.
    ///
    /// # Errors
    /// In the words of the extension that refuses, or [`Error::Plugin`](crate::Error::Plugin) when it gives no answer.
    async fn open_channel(
        &self,
        _cx: &Cx,
        _actor: &Arc<Actor>,
        _name: &str,
        _params: Vec<(String, String)>,
    ) -> Result<Vec<Topic>> {
        Err(crate::Error::NotFound)
    }
}

/// What a channel of an extension's shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topic {
    /// The statuses that enter a feed of its own.
    Feed(Feed),
    /// Its messages to a topic: see [`Change::TopicMessage`](crate::change::Change::TopicMessage).
    Messages(String),
}
