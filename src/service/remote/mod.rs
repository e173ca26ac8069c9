//! Accounts and statuses of other servers, as their servers describe them, and what remote accounts do here.
//!
//! Reached from `federation`, which read the documents and decided whom to believe: everything here is already known to
//! come from the account's own server. Texts are still raw, and sanitised here. The rules of this server apply: blocks,
//! visibility, who is notified. Nothing here causes a delivery to the server that it came from.
//!
//! Spec: docs/contract/federation.md#7-accepting-activities.

pub mod account;
mod approval;
pub mod block;
pub mod consent;
mod edit;
pub mod emoji;
pub mod files;
pub mod follow;
pub mod interaction;
pub mod media;
pub mod moving;
pub mod poll;
pub mod relay;
pub mod relevance;
pub mod retention;
pub mod status;

pub use edit::edit;

use context::Cx;
use context::error::{Error, Result};
use model::domain_policy::Flags;
use model::{AccountId, Actor};

use crate::{account_domains, relations};

/// The remote account `id` as an actor.
///
/// # Errors
/// [`Error::NotFound`] when it is missing, local or suspended.
pub async fn actor(cx: &Cx, id: AccountId) -> Result<Actor> {
    let found = store::remote::find_acting(&cx.db, id).await?;
    let (account, relations_version) = found.ok_or(Error::NotFound)?;
    Ok(Actor::remote(&account, relations_version))
}

/// The flags of the policy about the domain of the account `id`; none for an account of this server.
pub(crate) async fn flags(cx: &Cx, id: AccountId) -> Result<Flags> {
    let domain = account_domains::find(cx, &[id]).await?.pop().and_then(|(_, domain)| domain);
    Ok(domain.map_or(Flags::NONE, |domain| cx.domain_policy().of(&domain).flags))
}

/// True when the policy about its domain rejects favourites and reactions of the account `id`.
#[model::use_case]
pub async fn rejects_favourites(cx: &Cx, id: AccountId) -> Result<bool> {
    Ok(flags(cx, id).await?.reject_favourite)
}

/// True when the local account `account` blocks the remote account `actor`, or its domain, `domain`.
#[model::use_case]
pub async fn is_blocked(cx: &Cx, actor: &Actor, domain: &str, account: AccountId) -> Result<bool> {
    let blocked = relations::of(cx, actor).await?.is_blocked_by(account);
    Ok(blocked || store::domain_block::exists(&cx.db, account, domain).await?)
}
