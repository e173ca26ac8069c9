//! Blocked networks: clients in them are refused, or cannot sign up freely.
//!
//! Reached from `/api/v1/admin/ip_blocks` and `rookery ip-block`. The effects are elsewhere: `Cx::client_block`
//! compares the client of each request with the blocks, the HTTP layer refuses those without access, and
//! [`registration`](crate::registration) applies the others at sign-up.
//!
//! Spec: docs/contract/admin.csv

use chrono::Duration;
use ipnet::IpNet;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::audit::{self, Entry, Target};
use context::Cx;
use context::error::{Error, OnUnique, Result};
use database::Tx;
use model::address::parse_network;
use model::ip_block::IpSeverity;
use model::params::{required_to_create, sent_int};
use model::{Cursor, RowId, Staff, Time};
use store::ip_block::IpBlock;

/// Longest comment, in characters.
const COMMENT_MAX: usize = 10_000;
/// Latest expiry: a hundred years, in seconds.
const EXPIRES_IN_MAX: i64 = 100 * 365 * 24 * 60 * 60;

/// A blocked network; `None` leaves a value as it is, or takes the default of a new one.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct IpBlockParams {
    /// An address, or a network in CIDR notation.
    #[schemars(transform = required_to_create)]
    pub ip: Option<String>,
    /// What clients in the network may not do.
    #[schemars(transform = required_to_create)]
    pub severity: Option<IpSeverity>,
    /// For the staff, at most 10,000 characters.
    pub comment: Option<String>,
    /// In seconds from now; blank, the default, for a block that does not expire.
    #[serde(deserialize_with = "sent_int")]
    #[schemars(with = "Option<i64>")]
    pub expires_in: Option<Option<i64>>,
    /// Also when the network contains the address of the caller.
    pub force: Option<bool>,
}

/// A page of the blocks, newest first, expired ones included until they are cleaned up.
#[model::use_case]
pub async fn list(cx: &Cx, cursor: &Cursor) -> Result<Vec<IpBlock>> {
    Ok(store::ip_block::list(&cx.db, cursor).await?)
}

/// One block.
///
/// # Errors
/// [`Error::NotFound`].
#[model::use_case]
pub async fn find(cx: &Cx, id: RowId) -> Result<IpBlock> {
    store::ip_block::find(&cx.db, id).await?.ok_or(Error::NotFound)
}

/// The block of exactly the network `text`.
///
/// # Errors
/// [`Error::Invalid`] for an invalid network, and for one that is not blocked.
#[model::use_case]
pub async fn find_by_ip(cx: &Cx, text: &str) -> Result<IpBlock> {
    let network = read_network(text)?;
    let found = store::ip_block::find_by_ip(&cx.db, &network.to_string()).await?;
    found.ok_or_else(|| Error::invalid(format!("{network} is not blocked")))
}

/// Blocks a network.
///
/// # Errors
/// [`Error::Invalid`] for parameters that are missing or out of bounds, for a network that is blocked already, and for
/// one that contains the address of the caller, unless that is forced.
#[model::use_case]
pub async fn create(cx: &Cx, staff: &Staff, params: IpBlockParams) -> Result<IpBlock> {
    let now = cx.clock.now();
    let network = read_network(params.ip.as_deref().unwrap_or_default())?;
    let severity = params.severity.ok_or_else(|| {
        Error::invalid("severity: must be one of sign_up_requires_approval, sign_up_block, no_access")
    })?;
    check_caller(cx, network, &params)?;
    let block = IpBlock {
        id: cx.ids.next(),
        ip: network.to_string(),
        severity,
        comment: read_comment(params.comment.unwrap_or_default())?,
        expires_at: params.expires_in.flatten().map(|seconds| expiry(seconds, now)).transpose()?,
        created_at: now,
        updated_at: now,
    };
    let mut tx = cx.db.begin().await?;
    store::ip_block::delete_if_expired(&mut tx, &block.ip, now).await?;
    store::ip_block::insert(&mut tx, &block).await.on_unique(|| blocked_already(network))?;
    record(cx, &mut tx, staff, "ip_block.create", &block).await?;
    publish(cx, tx).await?;
    Ok(block)
}

/// Changes a block.
///
/// # Errors
/// [`Error::NotFound`]; otherwise as [`create`].
#[model::use_case]
pub async fn update(cx: &Cx, staff: &Staff, id: RowId, params: IpBlockParams) -> Result<IpBlock> {
    let now = cx.clock.now();
    let mut tx = cx.db.begin().await?;
    let mut block = store::ip_block::find(&mut tx, id).await?.ok_or(Error::NotFound)?;
    let network = read_network(params.ip.as_deref().unwrap_or(&block.ip))?;
    if params.ip.is_some() || params.severity.is_some() {
        check_caller(cx, network, &params)?;
    }
    if network.to_string() != block.ip {
        store::ip_block::delete_if_expired(&mut tx, &network.to_string(), now).await?;
        block.ip = network.to_string();
    }
    block.severity = params.severity.unwrap_or(block.severity);
    if let Some(comment) = params.comment {
        block.comment = read_comment(comment)?;
    }
    if let Some(expires_in) = params.expires_in {
        block.expires_at = expires_in.map(|seconds| expiry(seconds, now)).transpose()?;
    }
    block.updated_at = now;
    if !store::ip_block::update(&mut tx, &block).await.on_unique(|| blocked_already(network))? {
        return Err(Error::NotFound);
    }
    record(cx, &mut tx, staff, "ip_block.update", &block).await?;
    publish(cx, tx).await?;
    Ok(block)
}

/// Deletes a block.
///
/// # Errors
/// [`Error::NotFound`].
#[model::use_case]
pub async fn delete(cx: &Cx, staff: &Staff, id: RowId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let block = store::ip_block::delete(&mut tx, id).await?.ok_or(Error::NotFound)?;
    record(cx, &mut tx, staff, "ip_block.destroy", &block).await?;
    publish(cx, tx).await
}

async fn record(cx: &Cx, tx: &mut Tx, staff: &Staff, action: &'static str, block: &IpBlock) -> Result<()> {
    let details = json!({ "severity": block.severity, "expires_at": block.expires_at.map(Time::to_api) });
    let target = Target::new("ip_block", block.id, block.ip.clone());
    audit::record(cx, tx, staff, Entry::new(action, target).with(details)).await
}

/// Commits a change of the blocks, and applies it in this process.
async fn publish(cx: &Cx, mut tx: Tx) -> Result<()> {
    store::settings::bump_generation(&mut tx, cx.clock.now()).await?;
    tx.commit().await?;
    cx.reload().await?;
    Ok(())
}

fn read_network(text: &str) -> Result<IpNet> {
    parse_network(text)
        .ok_or_else(|| Error::invalid("ip: must be an IP address or a network, as 203.0.113.7 or 2001:db8::/32"))
}

fn blocked_already(network: IpNet) -> Error {
    Error::invalid(format!("ip: {network} is blocked already"))
}

fn read_comment(text: String) -> Result<String> {
    if text.chars().count() > COMMENT_MAX {
        return Err(Error::invalid(format!("comment: has at most {COMMENT_MAX} characters")));
    }
    Ok(text)
}

/// `seconds` from now.
fn expiry(seconds: i64, now: Time) -> Result<Time> {
    if !(1..=EXPIRES_IN_MAX).contains(&seconds) {
        return Err(Error::invalid(format!("expires_in: must be 1 to {EXPIRES_IN_MAX} seconds")));
    }
    Ok(now + Duration::seconds(seconds))
}

/// Protects the caller from blocking themselves.
fn check_caller(cx: &Cx, network: IpNet, params: &IpBlockParams) -> Result<()> {
    let contains_caller = cx.client().is_some_and(|client| network.contains(&client.to_canonical()));
    if contains_caller && params.force != Some(true) {
        return Err(Error::invalid(format!("ip: {network} contains your own address; send force=true to block it")));
    }
    Ok(())
}
