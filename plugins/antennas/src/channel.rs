//! The channel `antenna` of streams: what enters the feed of an antenna of one's own.

use rookery_plugin::prelude::*;

use crate::{FEED, table};

/// The feed of the antenna that the parameter `antenna` names.
#[on(channels)]
fn subscribe(ctx: &Context, _channel: &str, params: &[(String, String)]) -> Result<Vec<String>> {
    let wanted = params.iter().find(|(name, _)| name == "antenna").map(|(_, value)| value.as_str());
    let wanted =
        wanted.filter(|id| !id.is_empty()).ok_or_else(|| Error::BadRequest("Missing antenna name parameter".into()))?;
    let not_yours = || Error::Unauthorized("Not authorized to stream this antenna".into());
    let id = wanted.parse().map_err(|_| not_yours())?;
    table::find(ctx.account(), Id(id)).map_err(|error| match error {
        Error::NotFound => not_yours(),
        other => other,
    })?;
    Ok(vec![format!("feed:{FEED}:{id}")])
}
