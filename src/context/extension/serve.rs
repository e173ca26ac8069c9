//! Streaming channels that extensions serve.

use std::sync::Arc;

use async_trait::async_trait;

use crate::{Cx, Result};
use model::Actor;
use store::feed::Feed;

/// Streaming channels of extensions. The default of every method is the behaviour of a server without extensions.
#[async_trait]
pub trait ServeChannels {
    /// The generation of the extension that serves the streaming channel `name`, if one does.
    fn channel_generation(&self, _name: &str) -> Option<u64> {
        None
    }

    /// The topics that `actor` receives on the channel `name` with `params`.
    ///
    /// # Errors
    /// The rejection of the extension, or [`Error::Plugin`](crate::Error::Plugin) when it does not respond.
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

/// A topic of an extension's channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topic {
    /// The statuses that enter one of the extension's feeds.
    Feed(Feed),
    /// Messages to a topic of the extension: see [`Change::TopicMessage`](crate::change::Change::TopicMessage).
    Messages(String),
}
