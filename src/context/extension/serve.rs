//! What extensions serve themselves: streaming channels, and additions to the client in the browser.

use std::sync::Arc;

use async_trait::async_trait;

use super::client::{ClientPart, ClientResponse, ClientUse};
use crate::messages::Language;
use crate::{Cx, Error, Result};
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
    /// The rejection of the extension, or [`Error::Plugin`] when it does not respond.
    async fn open_channel(
        &self,
        _cx: &Cx,
        _actor: &Arc<Actor>,
        _name: &str,
        _params: Vec<(String, String)>,
    ) -> Result<Vec<Topic>> {
        Err(Error::NotFound)
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

/// Additions to the client in the browser. The default of every method is the behaviour of a server without extensions.
#[async_trait]
pub trait ServeClient {
    /// All additions, in the order of extensions and their own, with titles in `language`.
    fn client_parts(&self, _language: Language) -> Vec<ClientPart> {
        Vec::new()
    }

    /// Asks the addition `id` of `extension` as `actor`, with the checks and limits of a request of the API.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the addition does not exist or cannot do this, and the error of the extension.
    async fn ask_client(
        &self,
        _cx: &Cx,
        _actor: &Arc<Actor>,
        _extension: &str,
        _id: &str,
        _need: ClientUse<'_>,
    ) -> Result<ClientResponse> {
        Err(Error::NotFound)
    }
}
