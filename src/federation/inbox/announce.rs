//! Announce: a reblog by an account of another server.

use context::{Cx, Error};
use model::{InteractionKind, Time, Visibility};
use service::remote::consent;
use service::remote::interaction::{self, RemoteReblog};
use service::remote::relevance;

use super::inbound::Inbound;
use super::reason::Reason;
use super::refusal::Ignored;
use super::relayed;
use crate::fetch;
use crate::reading::known;
use crate::reading::visibility;
use crate::vocabulary::Activity;

/// Reblogs a status, which is fetched if it is not known and the reblog concerns this server.
pub(super) async fn announce(cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
    let object = announced(inbound)?;
    let object = object.as_str();
    if relayed::admits(cx, inbound).await? {
        return match known(cx, object).await? {
            Some(_) => Err(Reason::KnownStatus.into()),
            None => {
                relayed::counted(inbound, Box::pin(fetch::status(cx, object)).await.map(drop).map_err(Ignored::from))
            }
        };
    }
    let uri = inbound.id().ok_or(Reason::ForeignId)?;
    inbound.is_not_undone(cx).await?;
    let status = match known(cx, object).await? {
        Some(status) => status,
        None if !relevance::is_followed(cx, inbound.sender.id).await? => {
            return Err(Reason::Unrelated.into());
        }
        None => fetch::status(cx, object).await?,
    };
    let now = cx.clock.now();
    let published = inbound.activity.published.as_deref().and_then(Time::parse_rfc3339);
    let visibility = visibility(&inbound.activity.to, &inbound.activity.cc, inbound.sender.followers_url.as_deref());
    let new = RemoteReblog {
        uri: uri.to_owned(),
        account: inbound.sender.id,
        status,
        visibility: if matches!(visibility, Visibility::Direct) { Visibility::Private } else { visibility },
        created_at: published.filter(|published| *published < now).unwrap_or(now),
    };
    match interaction::reblog(cx, new).await {
        Err(Error::NotFound) => Err(Reason::NotVisible.into()),
        Err(Error::Forbidden(_)) => {
            consent::refuse(cx, InteractionKind::Reblog, status, inbound.sender.id, uri, None).await?;
            Err(Reason::NotAllowed.into())
        }
        done => Ok(done.map(drop)?),
    }
}

/// The URI of the reblogged status: of the object, or of the object of a Create that a group passes on. Neither is believed;
/// the status comes from its own server.
fn announced(inbound: &Inbound) -> Result<String, Ignored> {
    let object = inbound.object()?;
    if object.kind.iter().any(|kind| kind == "Create") {
        let inner: Option<Activity> = object.read();
        let inner = inner.and_then(|create| create.object.first().and_then(|status| status.id.clone()));
        return inner.ok_or(Reason::NoObject.into());
    }
    object.id.clone().ok_or(Reason::NoObject.into())
}
