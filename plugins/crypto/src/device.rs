//! Devices: whose they are, and who may reach them.

use std::collections::{BTreeMap, BTreeSet};

use rookery_plugin::prelude::*;

use crate::keys::DeviceKeys;
use crate::sql;

/// How many devices a person may have.
const MOST: usize = 50;

/// A device, as it is kept.
#[derive(Clone, Debug, Row)]
pub(crate) struct Device {
    pub(crate) id: Id,
    pub(crate) account_id: Id,
    pub(crate) token_id: Id,
    pub(crate) device_id: String,
    pub(crate) name: String,
    pub(crate) fingerprint_key: String,
    pub(crate) identity_key: String,
    /// The largest id that one of its messages had.
    pub(crate) last_message: i64,
}

/// `Device`, as it is shown.
#[derive(Debug, Serialize)]
pub(crate) struct PublicDevice {
    device_id: String,
    name: String,
    identity_key: String,
    fingerprint_key: String,
}

impl From<Device> for PublicDevice {
    fn from(device: Device) -> Self {
        let Device { device_id, name, identity_key, fingerprint_key, .. } = device;
        Self { device_id, name, identity_key, fingerprint_key }
    }
}

/// A device as a client names it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Address {
    account_id: String,
    device_id: String,
}

/// A device by its account and its name there.
pub(crate) type Key = (i64, String);

impl Address {
    pub(crate) fn new(account_id: &str, device_id: &str) -> Self {
        Self { account_id: account_id.to_owned(), device_id: device_id.to_owned() }
    }

    /// None for what no account can have as its id.
    pub(crate) fn key(&self) -> Option<Key> {
        Some((self.account_id.parse().ok()?, self.device_id.clone()))
    }
}

/// The device of the caller's token.
///
/// # Errors
/// [`Error::NotFound`] when it has none.
pub(crate) fn own(ctx: &Context) -> Result<Device> {
    sql::device_of(ctx.token().ok_or(Error::NotFound)?).one()
}

/// Makes the device of the caller's token, or changes it. Another id or key makes it another device, for which the keys
/// and messages of the one before are of no use. Its owner is held until the end of the request.
///
/// # Errors
/// [`Error::Invalid`] when there are too many, and when the caller has another device of this id.
pub(crate) fn set(ctx: &Context, sent: DeviceKeys) -> Result<Device> {
    let (account, token) = (ctx.account(), ctx.token().ok_or(Error::NotFound)?);
    sql::hold_own(account).exec()?;
    sql::forget_revoked(account).exec()?;
    let DeviceKeys { device_id, name, fingerprint_key, identity_key } = sent;
    let taken = || Error::invalid("Validation failed: Device id has already been taken");
    let Some(before) = sql::device_of(token).optional::<Device>()? else {
        if sql::count_devices(account).one::<usize>()? >= MOST {
            return Err(Error::invalid(format!("Validation failed: There are {MOST} devices, which is the limit")));
        }
        let made = sql::insert_device(account, token, &device_id, &name, &fingerprint_key, &identity_key);
        let id = made.one().on_unique(taken)?;
        let (account_id, token_id) = (account, token);
        return Ok(Device {
            id,
            account_id,
            token_id,
            device_id,
            name,
            fingerprint_key,
            identity_key,
            last_message: 0,
        });
    };
    let device = Device { device_id, name, fingerprint_key, identity_key, ..before.clone() };
    let parts = |of: &Device| (of.device_id.clone(), of.fingerprint_key.clone(), of.identity_key.clone());
    if parts(&device) != parts(&before) {
        sql::drop_keys(device.id).exec()?;
        sql::drop_messages(device.id).exec()?;
    }
    sql::update_device(device.id, &device.device_id, &device.name, &device.fingerprint_key, &device.identity_key)
        .exec()
        .on_unique(taken)?;
    Ok(device)
}

/// The accounts among `accounts` that exist and are not suspended, each once, in their order.
pub(crate) fn known(accounts: &[i64]) -> Result<Vec<i64>> {
    let mut seen = BTreeSet::new();
    let wanted: Vec<i64> = accounts.iter().copied().filter(|account| seen.insert(*account)).collect();
    if wanted.is_empty() {
        return Ok(wanted);
    }
    let found = core::accounts(&wanted)?.into_iter().flatten();
    Ok(found.filter(|account| !account.suspended()).map(|account| account.id).collect())
}

/// The accounts among `accounts` whose devices the caller may reach: neither blocks the other.
pub(crate) fn reachable(ctx: &Context, accounts: &[i64]) -> Result<Vec<i64>> {
    let caller = ctx.account().0;
    let others: Vec<i64> = accounts.iter().copied().filter(|account| *account != caller).collect();
    let mut barred = BTreeSet::new();
    if !others.is_empty() {
        let ties = core::relationships(ctx.account(), &others)?.into_iter();
        barred.extend(ties.filter(|tie| tie.blocking() || tie.blocked_by()).map(|tie| tie.account));
    }
    Ok(accounts.iter().copied().filter(|account| !barred.contains(account)).collect())
}

/// The devices of `accounts`.
pub(crate) fn of(accounts: &[i64]) -> Result<Vec<Device>> {
    if accounts.is_empty() { Ok(Vec::new()) } else { sql::devices_of(accounts).all() }
}

/// Devices by their accounts.
pub(crate) fn grouped(devices: Vec<Device>) -> BTreeMap<i64, Vec<Device>> {
    let mut groups: BTreeMap<i64, Vec<Device>> = BTreeMap::new();
    for device in devices {
        groups.entry(device.account_id.0).or_default().push(device);
    }
    groups
}

/// The devices among `addresses` that the caller may reach, whose owners are held until the end of the request.
pub(crate) fn held(ctx: &Context, addresses: &[Address]) -> Result<BTreeMap<Key, Device>> {
    let keys: BTreeSet<Key> = addresses.iter().filter_map(Address::key).collect();
    let accounts: Vec<i64> = keys.iter().map(|(account, _)| *account).collect();
    let accounts = reachable(ctx, &known(&accounts)?)?;
    hold(accounts.iter().copied())?;
    let keyed = |device: Device| ((device.account_id.0, device.device_id.clone()), device);
    Ok(of(&accounts)?.into_iter().map(keyed).filter(|(key, _)| keys.contains(key)).collect())
}

/// Holds the owners of devices among `accounts`, always in the same order.
pub(crate) fn hold(accounts: impl Iterator<Item = i64>) -> Result<()> {
    let accounts: BTreeSet<i64> = accounts.collect();
    sql::many::hold(accounts.into_iter().map(|account| (account,)))?;
    Ok(())
}
