//! Keys and messages of devices that encrypt end to end (Olm). The server forwards messages that it cannot read.
//!
//! A device belongs to one access token and goes with it ([`forget`]). Others claim its one-time keys, each of which is
//! given out once, and leave messages for it until it clears them ([`delivery`]). Keys and signatures are checked when they
//! are uploaded ([`keys`]). Spec: the contract's group `crypto`.
//!
//! Not yet: devices of other servers. Remote accounts have none here.

mod delivery;
mod device;
mod expire;
mod forget;
mod keys;
mod message;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use rookery_plugin::prelude::*;

use crate::device::{Address, Device, PublicDevice};
use crate::keys::Upload;

/// The plugin.
#[plugin]
pub struct Crypto;

/// Accounts or devices per request.
const MOST: usize = 100;
/// One-time keys of one device that one account may claim within an hour, so that a single account cannot use them all up.
const OF_DEVICE: i64 = 20;
/// One-time keys that one person may claim within an hour, of all devices.
const IN_ALL: i64 = 1_000;
/// Milliseconds of an hour.
const HOUR: i64 = 3_600_000;

/// `POST /api/v1/crypto/keys/upload`: makes or changes the device of the token, and adds one-time keys.
#[route(post, "/api/v1/crypto/keys/upload", scopes = ["crypto"])]
fn upload(ctx: &Context, Params(upload): Params<Upload>) -> Result<Output> {
    let (sent, keys) = upload.checked()?;
    let device = device::set(ctx, sent)?;
    keys::add(&device, keys)?;
    Output::json(&PublicDevice::from(device))
}

/// Whose devices are wanted.
#[derive(Deserialize)]
struct People {
    #[serde(default)]
    id: Vec<String>,
}

/// The devices of one account.
#[derive(Serialize)]
struct Devices {
    account_id: Id,
    devices: Vec<PublicDevice>,
}

/// `POST /api/v1/crypto/keys/query`: accounts that do not exist are left out.
#[route(post, "/api/v1/crypto/keys/query", scopes = ["crypto"])]
fn query(ctx: &Context, Params(people): Params<People>) -> Result<Output> {
    at_most(people.id.len(), "ids")?;
    let wanted: Vec<i64> = people.id.iter().filter_map(|id| id.parse().ok()).collect();
    let mut answer: Vec<Devices> = Vec::new();
    for account in device::known(&wanted)? {
        answer.push(Devices { account_id: Id(account), devices: Vec::new() });
    }
    let accounts: Vec<i64> = answer.iter().map(|of| of.account_id.0).collect();
    let mut devices = device::grouped(device::of(&device::reachable(ctx, &accounts)?)?);
    for of in &mut answer {
        let own = devices.remove(&of.account_id.0).unwrap_or_default();
        of.devices = own.into_iter().map(PublicDevice::from).collect();
    }
    Output::json(&answer)
}

/// Devices whose keys are claimed.
#[derive(Deserialize)]
struct Claims {
    #[serde(default)]
    device: Vec<Address>,
}

/// A one-time key that was given out.
#[derive(Serialize)]
struct Claimed {
    account_id: Id,
    device_id: String,
    key_id: String,
    key: String,
    signature: String,
}

/// `POST /api/v1/crypto/keys/claim`: one key of each device. One that is unknown, one that has none left, and one of which the
/// caller claimed too many is left out.
#[route(post, "/api/v1/crypto/keys/claim", scopes = ["crypto"])]
fn claim(ctx: &Context, Params(claims): Params<Claims>) -> Result<Output> {
    at_most(claims.device.len(), "devices")?;
    device::own(ctx)?;
    let found = device::held(ctx, &claims.device)?;
    let (asker, hour) = (ctx.account(), system::now() / HOUR);
    let mut wanted: Vec<&Device> = Vec::new();
    for device in claims.device.iter().filter_map(|address| found.get(&address.key()?)) {
        if !wanted.iter().any(|known| known.id == device.id) {
            wanted.push(device);
        }
    }
    let ids = allowed(&wanted, asker, hour)?;
    let mut keys: BTreeMap<i64, (String, String, String)> = BTreeMap::new();
    if !ids.is_empty() {
        for (device, key_id, key, signature) in sql::claim(ids).all::<(i64, String, String, String)>()? {
            keys.insert(device, (key_id, key, signature));
        }
        sql::note_claims(keys.keys().copied().collect::<Vec<_>>(), asker, hour).exec()?;
    }
    let claimed = |device: &Device| {
        let (key_id, key, signature) = keys.remove(&device.id.0)?;
        Some(Claimed { account_id: device.account_id, device_id: device.device_id.clone(), key_id, key, signature })
    };
    Output::json(&wanted.into_iter().filter_map(claimed).collect::<Vec<_>>())
}

/// The devices in `wanted` from which `asker` may claim another key in this hour.
///
/// # Errors
/// [`Error::RateLimited`] when that is none since `asker` claimed too many in all.
fn allowed(wanted: &[&Device], asker: Id, hour: i64) -> Result<Vec<i64>> {
    let ids: Vec<i64> = wanted.iter().map(|device| device.id.0).collect();
    if ids.is_empty() {
        return Ok(ids);
    }
    let in_all: i64 = sql::claimed_in_all(asker, hour).one()?;
    let left = usize::try_from(IN_ALL - in_all).unwrap_or(0);
    if left == 0 {
        return Err(Error::RateLimited);
    }
    let claimed: BTreeMap<i64, i64> = sql::claimed(ids.clone(), asker, hour).all::<(i64, i64)>()?.into_iter().collect();
    let few = |id: &i64| claimed.get(id).is_none_or(|count| *count < OF_DEVICE);
    Ok(ids.into_iter().filter(few).take(left).collect())
}

/// `GET /api/v1/crypto/keys/count`
#[route(get, "/api/v1/crypto/keys/count", scopes = ["crypto"])]
fn count(ctx: &Context) -> Result<Output> {
    let device = device::own(ctx)?;
    let count: i64 = sql::count_keys(device.id).one()?;
    Output::json(&json!({ "one_time_keys": count }))
}

/// Checks the number of accounts or devices in a request.
///
/// # Errors
/// [`Error::Invalid`].
fn at_most(count: usize, what: &str) -> Result<()> {
    if count <= MOST {
        return Ok(());
    }
    Err(Error::invalid(format!("Validation failed: There are more than {MOST} {what}, which is the limit")))
}
