//! Key-value storage (contract: interface `kv`), in a table of the server and within the plugin's quota.

use async_trait::async_trait;
use chrono::DateTime;
use rookery_plugin_host::host::Kv;
use rookery_plugin_host::imports::kv::Item;
use rookery_plugin_host::imports::types::Failure;

use super::Call;
use crate::failure::{OrFailure as _, at_most, denied, failure};
use model::Time;
use store::plugin_kv;

/// Most keys or items of one call.
const ITEMS: usize = 1_000;
/// Longest key, in bytes.
const KEY: usize = 256;
/// Largest value, in bytes.
const VALUE: usize = 64 * 1024;

#[async_trait]
impl Kv for Call {
    async fn get(&self, keys: Vec<String>) -> Result<Vec<Option<Vec<u8>>>, Failure> {
        self.check_keys(&keys)?;
        let (plugin, now, mut room) = (self.active.id, self.cx.clock.now(), self.room());
        let found = if let Some(mut slot) = self.joined().await
            && let Some(tx) = slot.tx()
        {
            plugin_kv::get(tx, plugin, &keys, now, room.left()).await
        } else {
            plugin_kv::get(&self.cx.db, plugin, &keys, now, room.left()).await
        };
        let found = found.or_failure()?.ok_or_else(|| room.too_large())?;
        // A key that is named twice counts twice.
        keys.iter().try_for_each(|key| room.take_bytes(found.get(key).map_or(0, Vec::len)))?;
        Ok(keys.iter().map(|key| found.get(key).cloned()).collect())
    }

    async fn set(&self, items: Vec<Item>) -> Result<(), Failure> {
        at_most(items.len(), ITEMS, "items")?;
        let mut rows = Vec::with_capacity(items.len());
        for item in items {
            self.check_keys(std::slice::from_ref(&item.key))?;
            at_most(item.value.len(), VALUE, "bytes of a value")?;
            rows.push(plugin_kv::Item { expires_at: expiry(item.expires)?, key: item.key, value: item.value });
        }
        if rows.is_empty() {
            return Ok(());
        }
        self.charge_storage(rows.iter().map(|row| row.key.len() + row.value.len()).sum(), "kv.quota").await?;
        let mut work = self.change().await?;
        plugin_kv::set(work.tx()?, self.active.id, &rows).await.or_failure()?;
        work.done().await
    }

    async fn delete(&self, keys: Vec<String>) -> Result<u32, Failure> {
        self.check_keys(&keys)?;
        let mut work = self.change().await?;
        let deleted = plugin_kv::delete(work.tx()?, self.active.id, &keys).await.or_failure()?;
        work.done().await?;
        Ok(u32::try_from(deleted).unwrap_or(u32::MAX))
    }

    async fn add(&self, key: String, delta: i64) -> Result<i64, Failure> {
        self.check_keys(std::slice::from_ref(&key))?;
        self.charge_storage(key.len(), "kv.quota").await?;
        let mut work = self.change().await?;
        let sum = plugin_kv::add(work.tx()?, self.active.id, &key, delta, self.cx.clock.now()).await.or_failure()?;
        work.done().await?;
        sum.ok_or_else(|| failure(422, "kv.no-number", format!("{key:?} holds no number, or the sum does not fit")))
    }

    async fn scan(&self, prefix: String, after: Option<String>, limit: u16) -> Result<Vec<Item>, Failure> {
        self.need_kv()?;
        let (plugin, now) = (self.active.id, self.cx.clock.now());
        if prefix.contains('\0') || after.as_ref().is_some_and(|after| after.contains('\0')) {
            return Ok(Vec::new());
        }
        let after = after.unwrap_or_default();
        let (range, room) = ((prefix.as_str(), after.as_str(), limit.min(1_000)), self.room());
        let rows = if let Some(mut slot) = self.joined().await
            && let Some(tx) = slot.tx()
        {
            plugin_kv::list(tx, plugin, range, now, room.left()).await
        } else {
            plugin_kv::list(&self.cx.db, plugin, range, now, room.left()).await
        };
        let rows = rows.or_failure()?.ok_or_else(|| room.too_large())?;
        let item = |row: plugin_kv::Item| Item {
            key: row.key,
            value: row.value,
            expires: row.expires_at.map(|at| at.timestamp_millis()),
        };
        Ok(rows.into_iter().map(item).collect())
    }
}

impl Call {
    fn need_kv(&self) -> Result<(), Failure> {
        let granted = self.granted().storage.iter().any(|storage| storage == "kv");
        if granted { Ok(()) } else { Err(denied("storage = [\"kv\"]")) }
    }

    fn check_keys(&self, keys: &[String]) -> Result<(), Failure> {
        self.need_kv()?;
        at_most(keys.len(), ITEMS, "keys")?;
        match keys.iter().find(|key| key.len() > KEY || key.contains('\0')) {
            None => Ok(()),
            Some(_) => Err(failure(413, "limit.key", format!("A key is a text of {KEY} bytes at most, without NUL"))),
        }
    }

    /// Charges `bytes` to the plugin's quota of storage; the error has `code`.
    pub(super) async fn charge_storage(&self, bytes: usize, code: &str) -> Result<(), Failure> {
        self.active.quotas.storage.ready().await.or_failure()?;
        if self.active.quotas.storage.take(bytes) {
            return Ok(());
        }
        let most = self.active.quotas.storage.most() >> 20;
        Err(failure(507, code, format!("The plugin's data has reached the limit db-size, {most} MiB")))
    }
}

fn expiry(millis: Option<i64>) -> Result<Option<Time>, Failure> {
    let Some(millis) = millis else { return Ok(None) };
    let at = DateTime::from_timestamp_millis(millis).map(Time::from);
    at.map(Some).ok_or_else(|| failure(422, "kv.expires", "There is no such time"))
}
