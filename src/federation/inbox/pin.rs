//! Add and Remove: a status is pinned to the profile of its author, or no longer is.

use context::{Cx, Error};
use model::StatusId;
use service::remote::{interaction, relevance};

use super::inbound::Inbound;
use super::reason::Reason;
use super::refusal::Ignored;
use crate::address::same_host;
use crate::fetch;
use crate::reading::known;

/// Pins a status of the sender, which is fetched if it is not known and someone here follows the sender.
pub(super) async fn add(cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
    let uri = pinned(inbound)?;
    let status = match known(cx, uri).await? {
        Some(status) => status,
        None if !relevance::is_followed(cx, inbound.sender.id).await? => {
            return Err(Reason::Unrelated.into());
        }
        None => fetch::status(cx, uri).await?,
    };
    pin(cx, inbound, status).await
}

async fn pin(cx: &Cx, inbound: &Inbound, status: StatusId) -> Result<(), Ignored> {
    match interaction::pin(cx, inbound.sender.id, status).await {
        Err(Error::Forbidden(_) | Error::NotFound) => Err(Reason::NotPinnable.into()),
        done => Ok(done?),
    }
}

/// Unpins a status of the sender.
pub(super) async fn remove(cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
    let status = known(cx, pinned(inbound)?).await?.ok_or(Reason::UnknownStatus)?;
    match interaction::unpin(cx, inbound.sender.id, status).await? {
        true => Ok(()),
        false => Err(Reason::NotPinned.into()),
    }
}

/// The URI of the object, if the activity is about the pinned statuses of the sender.
fn pinned(inbound: &Inbound) -> Result<&str, Ignored> {
    let object = inbound.object()?;
    let target = inbound.activity.target.as_ref().map(|target| target.0.as_str());
    if target.is_none() || target != inbound.sender.featured_url.as_deref() {
        return Err(Reason::NotFeatured.into());
    }
    if object.kind.iter().any(|kind| kind == "Hashtag") {
        return Err(Reason::Hashtag.into());
    }
    let uri = object.id.as_deref().ok_or(Reason::NoObject)?;
    if same_host(uri, &inbound.sender.uri) { Ok(uri) } else { Err(Reason::ForeignObject.into()) }
}
