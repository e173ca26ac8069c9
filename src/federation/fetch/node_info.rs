//! NodeInfo of other servers, at most once a day: the software decides how missing members are read.

use context::queue::{Failure as JobFailure, FetchNodeInfo};
use context::{Cx, job};

use super::document::plain;
use crate::Failure;
use crate::address::same_host;
use crate::vocabulary::{NodeInfo, NodeInfoLinks, parse_plain};

/// Longest name of software, and of a feature, in characters, and most features.
const NAME_MAX: usize = 100;
const FEATURES_MAX: usize = 100;

#[model::use_case]
#[job]
async fn fetch_node_info(cx: &Cx, job: FetchNodeInfo) -> Result<(), JobFailure> {
    let info = match node_info(cx, &job.domain).await {
        Err(failure @ Failure::Local(_)) => return Err(failure.into()),
        // Asked again after a day.
        Err(failure) => {
            tracing::debug!(%failure, domain = job.domain, "a server has no NodeInfo");
            return Ok(());
        }
        Ok(info) => info,
    };
    let clip = |text: &String| text.chars().take(NAME_MAX).collect::<String>();
    let features = info.metadata.0.map(|metadata| metadata.features.iter().take(FEATURES_MAX).map(clip).collect());
    let software = clip(&info.software.name).to_lowercase();
    let mut tx = cx.db.begin().await?;
    store::instance::set_software(&mut tx, &job.domain, &software, features.unwrap_or_default()).await?;
    Ok(tx.commit().await?)
}

async fn node_info(cx: &Cx, domain: &str) -> Result<NodeInfo, Failure> {
    let url = format!("{}://{domain}/.well-known/nodeinfo", cx.config.server.scheme.as_str());
    let links: NodeInfoLinks = parse_plain(&plain(cx, &url).await?.body)?;
    let address = links.newest().ok_or(Failure::Disbelieved("no version of NodeInfo that is understood"))?;
    if !same_host(address, &url) {
        return Err(Failure::Disbelieved("the NodeInfo is on another host"));
    }
    Ok(parse_plain(&plain(cx, address).await?.body)?)
}
