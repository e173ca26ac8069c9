//! The members of the instance documents about reactions.

use rookery_plugin::contract::types::Fields;
use rookery_plugin::prelude::*;

use crate::people::Config;
use crate::react::MOST;

/// Names of features, as clients and other servers look for them.
const FEATURES: [&str; 2] = ["emoji_reaction", "enable_wide_emoji_reaction"];
/// How many reactions a status is said to take.
const MOST_OF_A_STATUS: i64 = 32_767;

/// Adds features and limits to the documents that describe the server.
#[on(instance_info)]
fn announce(document: &str) -> Result<Fields> {
    let config: Config = config::all()?;
    if !config.enable_emoji_reaction {
        return Ok(Fields::new());
    }
    let features = json!(FEATURES).to_string();
    if document == "nodeinfo" {
        return Ok(vec![("metadata.features".to_owned(), features)]);
    }
    let limits = json!({
        "max_reactions": MOST_OF_A_STATUS,
        "max_reactions_per_account": MOST,
        "max_reactions_per_remote_account": MOST,
    });
    Ok(vec![
        ("fedibird_capabilities".to_owned(), features),
        ("configuration.emoji_reactions".to_owned(), limits.to_string()),
        ("configuration.reactions".to_owned(), json!({ "max_reactions": MOST }).to_string()),
    ])
}
