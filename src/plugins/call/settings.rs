//! Settings of accounts for the plugin (contract: interface `settings`), validated against the schema of its manifest.

use std::collections::HashMap;

use rookery_plugin_host::imports::types::Failure;
use serde_json::{Map, Value};

use super::Call;
use super::core::distinct;
use super::failure::{OrFailure as _, at_most, denied, failure, from_error};
use crate::settings;
use model::{AccountId, Json};
use rookery_core::error::Error;
use store::plugin_setting;

/// Most accounts of one call.
const ITEMS: usize = 1_000;

impl Call {
    pub(super) async fn read_settings(&self, accounts: Vec<i64>) -> Result<Vec<String>, Failure> {
        self.need_settings()?;
        at_most(accounts.len(), ITEMS, "accounts")?;
        let stored = self.stored_settings(&distinct(&accounts)).await?;
        let of = |id: &i64| match stored.get(&AccountId::from(*id)) {
            None => Value::Object(settings::filled(&self.active, &Map::new())).to_string(),
            Some(stored) => Value::Object(settings::filled(&self.active, stored)).to_string(),
        };
        Ok(accounts.iter().map(of).collect())
    }

    pub(super) async fn write_settings(&self, account: i64, members: &str) -> Result<(), Failure> {
        self.need_settings()?;
        at_most(members.len(), settings::SIZE, "bytes")?;
        let wrong = |why: String| failure(422, "settings.invalid", why);
        let members: Map<String, Value> = serde_json::from_str(members)
            .map_err(|error| wrong(format!("The settings are no JSON object: {error}")))?;
        let mut work = self.change().await?;
        let changed = settings::change(work.tx()?, &self.active, account.into(), members).await;
        work.done().await?;
        changed.map_err(|error| match error {
            Error::NotFound => failure(404, "core.not-found", "There is no such account here"),
            Error::Invalid(why) => wrong(why.to_string()),
            other => from_error(other),
        })
    }

    fn need_settings(&self) -> Result<(), Failure> {
        if self.granted().settings { Ok(()) } else { Err(denied("settings = true")) }
    }

    /// The values that the accounts set, including changes of this call.
    async fn stored_settings(&self, accounts: &[AccountId]) -> Result<HashMap<AccountId, Map<String, Value>>, Failure> {
        let mut slot = self.slot.lock().await;
        let rows = match slot.tx() {
            Some(tx) => plugin_setting::list(tx, self.active.id, accounts).await.or_failure()?,
            None => {
                drop(slot);
                plugin_setting::list_inline(&self.cx.db, self.active.id, accounts).await.or_failure()?
            }
        };
        Ok(rows.into_iter().map(|(account, Json(value))| (account, value)).collect())
    }
}
