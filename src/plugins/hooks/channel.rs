//! Stream channels of plugins: the plugin is called when a client subscribes, and again for open channels when a new
//! generation is active. Later messages are sent without a call.
//!
//! A plugin returns topics: its own `NAME` or `NAME:ID`, as its manifest declares them, or `feed:NAME:KEY`, the
//! statuses that enter one of its feeds.

use std::sync::Arc;

use rookery_plugin_host::{CallError, Part};

use super::Subscription;
use super::filter::spoken_for;
use crate::Cx;
use crate::call::{Call, Mode, is_person};
use crate::cx::Session;
use crate::error::{no_answer, refused};
use async_trait::async_trait;
use context::extension::{ServeChannels, Topic};
use context::{Error, Result};
use model::Actor;
use store::feed::Feed;
use store::plugin_feed;

/// What begins a topic that is a feed of the plugin's own.
const FEED: &str = "feed:";
/// Most topics of one channel.
const TOPICS: usize = 32;

#[async_trait]
impl ServeChannels for Session {
    fn channel_generation(&self, name: &str) -> Option<u64> {
        self.ask(|registry| Some(registry.hooks.channel(name)?.active.generation))
    }

    async fn open_channel(
        &self,
        cx: &context::Cx,
        actor: &Arc<Actor>,
        name: &str,
        params: Vec<(String, String)>,
    ) -> Result<Vec<Topic>> {
        open_channel(&Cx::of(cx)?, actor, name, params).await
    }
}

/// The topics of the channel `name` for `actor`, who subscribes with `params`.
///
/// # Errors
/// [`Error::NotFound`] when no plugin serves it, [`Error::Refused`] in the plugin's words, [`Error::Plugin`] when it gives no
/// answer, or one that makes no sense.
pub async fn open_channel(
    cx: &Cx,
    actor: &Arc<Actor>,
    name: &str,
    params: Vec<(String, String)>,
) -> Result<Vec<Topic>> {
    let registry = cx.registry();
    let hook = registry.hooks.channel(name).ok_or(Error::NotFound)?;
    let asked = call(cx, hook, actor, name, params);
    let topics =
        hook.ask_alone(cx, Some(actor.id.into()), Box::pin(asked)).await.map_err(|error| match error.failure {
            Some(failure) => refused(failure),
            None => no_answer(hook.active.name(), error.kind, Some(503)),
        })?;
    let mut opened = Vec::with_capacity(topics.len().min(TOPICS));
    for topic in topics.into_iter().take(TOPICS) {
        opened.push(resolve(cx, hook, &topic).await?);
    }
    Ok(opened)
}

async fn call(
    cx: &Cx,
    hook: &Subscription,
    actor: &Arc<Actor>,
    name: &str,
    params: Vec<(String, String)>,
) -> Result<Vec<String>, CallError> {
    let (caller, context) = spoken_for(cx, hook, actor);
    let call = Call::new(cx, &hook.active, Part::Decorations, caller, Mode::Read);
    hook.active.component.channel(call, context, name, params).await
}

/// The topic as the server knows it.
async fn resolve(cx: &Cx, hook: &Subscription, topic: &str) -> Result<Topic> {
    let plugin = &hook.active;
    let nonsense = || Error::internal(format!("{} answered with the topic {topic:?}, which is none", plugin.name()));
    if let Some(feed) = topic.strip_prefix(FEED) {
        let (name, key) = feed.split_once(':').ok_or_else(nonsense)?;
        let owner = key.parse().map_err(|_| nonsense())?;
        // Before the first entry a feed has no kind yet: it is assigned now, so that the first one is not missed.
        let kind = match plugin_feed::find_kind(&cx.db, plugin.id, name).await? {
            Some(kind) => kind,
            None => {
                let mut tx = cx.db.begin().await?;
                let kind = plugin_feed::get_or_insert_kind(&mut tx, plugin.id, name).await?;
                tx.commit().await?;
                kind
            }
        };
        return Ok(Topic::Feed(Feed { kind, owner }));
    }
    let name = topic.split(':').next().unwrap_or_default();
    let declared = plugin.manifest.permissions.topics.iter().any(|known| known == name && !is_person(known));
    declared.then(|| Topic::Messages(format!("{}/{topic}", plugin.name()))).ok_or_else(nonsense)
}
