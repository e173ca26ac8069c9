//! What each account sets for the plugin (contract: interface `settings`), checked against the schema of its manifest.

use std::collections::HashMap;

use rookery_plugin_host::imports::types::Failure;
use serde_json::{Map, Value};

use super::Call;
use super::core::distinct;
use super::failure::{at_most, denied, failure, internal};
use crate::model::{AccountId, Json};
use crate::plugins::manifest;
use crate::store::{self, plugin_setting};

/// Most accounts of one call.
const ITEMS: usize = 1_000;
/// Largest document of an account's settings, in bytes.
const SIZE: usize = 64 * 1024;

impl Call {
    pub(super) async fn read_settings(&self, accounts: Vec<i64>) -> Result<Vec<String>, Failure> {
        self.need_settings()?;
        at_most(accounts.len(), ITEMS, "accounts")?;
        let stored = self.stored_settings(&distinct(&accounts)).await?;
        let of = |id: &i64| match stored.get(&AccountId::from(*id)) {
            None => self.filled(&Map::new()).to_string(),
            Some(stored) => self.filled(stored).to_string(),
        };
        Ok(accounts.iter().map(of).collect())
    }

    pub(super) async fn write_settings(&self, account: i64, members: &str) -> Result<(), Failure> {
        self.need_settings()?;
        at_most(members.len(), SIZE, "bytes")?;
        let wrong = |why: String| failure(422, "settings.invalid", why);
        let members: Map<String, Value> = serde_json::from_str(members)
            .map_err(|error| wrong(format!("The settings are no JSON object: {error}")))?;
        let account = AccountId::from(account);
        let mut settings = self.stored_settings(&[account]).await?.remove(&account).unwrap_or_default();
        for (name, value) in members {
            match value {
                Value::Null => settings.remove(&name),
                value => settings.insert(name, value),
            };
        }
        at_most(Value::Object(settings.clone()).to_string().len(), SIZE, "bytes")?;
        self.check_settings(&settings)?;
        let mut work = self.change().await?;
        let found = plugin_setting::upsert(work.tx()?, self.active.id, account, settings).await?;
        // What the plugin adds to the account may show it.
        store::account::bump_all(work.tx()?, &[account]).await?;
        work.done().await?;
        if found { Ok(()) } else { Err(failure(404, "core.not-found", "There is no such account here")) }
    }

    fn need_settings(&self) -> Result<(), Failure> {
        if self.granted().settings { Ok(()) } else { Err(denied("settings = true")) }
    }

    /// What the accounts set themselves, as this call left it.
    async fn stored_settings(&self, accounts: &[AccountId]) -> Result<HashMap<AccountId, Map<String, Value>>, Failure> {
        let mut slot = self.slot.lock().await;
        let rows = match slot.tx() {
            Some(tx) => plugin_setting::list(tx, self.active.id, accounts).await?,
            None => {
                drop(slot);
                plugin_setting::list(&self.app.db, self.active.id, accounts).await?
            }
        };
        Ok(rows.into_iter().map(|(account, Json(value))| (account, value)).collect())
    }

    /// The defaults, and `stored` over them. A member that a later version of the plugin dropped is left out.
    fn filled(&self, stored: &Map<String, Value>) -> Value {
        let mut filled = self.active.settings.as_ref().map(manifest::defaults).unwrap_or_default();
        for (name, value) in &mut filled {
            if let Some(stored) = stored.get(name) {
                *value = stored.clone();
            }
        }
        Value::Object(filled)
    }

    fn check_settings(&self, settings: &Map<String, Value>) -> Result<(), Failure> {
        let schema = self.active.settings.as_ref();
        let schema = schema.ok_or_else(|| failure(422, "settings.invalid", "The plugin has no settings"))?;
        let known = manifest::defaults(schema);
        if let Some(unknown) = settings.keys().find(|name| !known.contains_key(*name)) {
            return Err(failure(422, "settings.invalid", format!("There is no setting {unknown:?}")));
        }
        let validator = jsonschema::draft202012::new(schema).map_err(|error| internal(&error))?;
        let filled = self.filled(settings);
        validator.validate(&filled).map_err(|error| {
            let path = error.instance_path().to_string();
            failure(422, "settings.invalid", format!("{} {error}", path.trim_start_matches('/')))
        })
    }
}
