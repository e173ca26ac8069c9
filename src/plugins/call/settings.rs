//! Settings of accounts for the plugin (contract: interface `settings`), validated against the schema of its manifest.

use std::collections::HashMap;

use async_trait::async_trait;
use rookery_plugin_host::host::Settings;
use rookery_plugin_host::imports::types::Failure;
use serde_json::{Map, Value};

use super::Call;
use super::core::distinct;
use crate::failure::{OrFailure as _, at_most, denied, failure, from_error};
use crate::settings::{self, TRIES};
use context::error::Error;
use model::{AccountId, Json};
use store::plugin_setting;

/// Most accounts of one call.
const ITEMS: usize = 1_000;
/// The number of accounts whose settings are read in one statement, before they are measured.
const CHUNK: usize = 50;

#[async_trait]
impl Settings for Call {
    async fn get(&self, accounts: Vec<i64>) -> Result<Vec<String>, Failure> {
        self.need_settings()?;
        at_most(accounts.len(), ITEMS, "accounts")?;
        let text = |stored: &Map<String, Value>| Value::Object(settings::filled(&self.active, stored)).to_string();
        let (defaults, mut texts, mut room) = (text(&Map::new()), HashMap::new(), self.room());
        for some in distinct::<AccountId>(&accounts).chunks(CHUNK) {
            for (account, stored) in self.stored_settings(some).await? {
                let text = text(&stored);
                room.take(&text)?;
                texts.insert(account, text);
            }
        }
        // Measured again: an account that is named twice counts twice.
        let mut room = self.room();
        let of = |id: &i64| {
            let text = texts.get(&AccountId::from(*id)).unwrap_or(&defaults);
            room.take(text).map(|()| text.clone())
        };
        accounts.iter().map(of).collect()
    }

    async fn set(&self, account: i64, members: String) -> Result<(), Failure> {
        self.need_settings()?;
        let members_size = members.len();
        at_most(members_size, settings::SIZE, "bytes")?;
        let wrong = |why: String| failure(422, "settings.invalid", why);
        let members: Map<String, Value> = serde_json::from_str(&members)
            .map_err(|error| wrong(format!("The settings are no JSON object: {error}")))?;
        self.charge_storage(members_size, "settings.quota").await?;
        let refused = |error| match error {
            Error::NotFound => failure(404, "core.not-found", "There is no such account here"),
            Error::Invalid(why) => wrong(why.to_string()),
            other => from_error(other),
        };
        let account = AccountId::from(account);
        for _ in 0..TRIES {
            let stored = self.stored_settings(&[account]).await?.remove(&account).unwrap_or_default();
            // Validated before a transaction is open, if this is the first change of the call.
            let change = settings::prepare(&self.active, stored, &members).map_err(refused)?;
            let mut work = self.change().await?;
            let applied = settings::apply(work.tx()?, &self.active, account, change).await;
            work.done().await?;
            if applied.map_err(refused)? {
                return Ok(());
            }
        }
        Err(from_error(settings::changed_meanwhile()))
    }
}

impl Call {
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
