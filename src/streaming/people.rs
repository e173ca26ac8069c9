//! Whoever is connected, as viewers: read once, and again when their rows changed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use database::versions::{Dependency, Versions};
use model::{AccountId, Actor};
use rookery_core::service::auth;
use rookery_core::{Cx, Result};

/// Viewers by account. On SQLite one is used for as long as its rows are as they were ([`database::versions`]); on PostgreSQL,
/// where other nodes change them, none is kept.
#[derive(Debug, Default)]
pub(crate) struct People(Mutex<HashMap<AccountId, Kept>>);

#[derive(Debug)]
struct Kept {
    actor: Arc<Actor>,
    noted: u64,
}

impl People {
    /// Those of `accounts` who may use this server, as they are now, in no order: one statement, or none when all are kept.
    pub(crate) async fn of(&self, cx: &Cx, accounts: Vec<AccountId>) -> Result<Vec<Arc<Actor>>> {
        let versions = cx.db.versions();
        let (mut found, missing) = match versions {
            Some(versions) => self.kept(versions, accounts),
            None => (Vec::new(), accounts),
        };
        if missing.is_empty() {
            return Ok(found);
        }
        let noted = versions.map(Versions::now);
        let read = auth::actors(cx, &missing).await?.into_iter().map(Arc::new);
        for actor in read {
            if let Some(noted) = noted {
                self.lock().insert(actor.id, Kept { actor: Arc::clone(&actor), noted });
            }
            found.push(actor);
        }
        Ok(found)
    }

    fn kept(&self, versions: &Versions, accounts: Vec<AccountId>) -> (Vec<Arc<Actor>>, Vec<AccountId>) {
        let all = self.lock();
        let mut found = Vec::with_capacity(accounts.len());
        let current = |id: &AccountId| {
            let kept = all.get(id)?;
            versions.is_current(kept.noted, &[Dependency::Account(*id)]).then(|| Arc::clone(&kept.actor))
        };
        let missing = accounts.into_iter().filter(|id| match current(id) {
            Some(actor) => {
                found.push(actor);
                false
            }
            None => true,
        });
        let missing = missing.collect();
        (found, missing)
    }

    /// Forgets one who left.
    pub(crate) fn forget(&self, account: AccountId) {
        self.lock().remove(&account);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<AccountId, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
