//! The viewer that a plugin reads as, and the permission for it.

use std::sync::{Arc, PoisonError};

use rookery_plugin_host::imports::types::{Failure, Viewer};

use super::Call;
use crate::failure::{OrFailure as _, denied, failure};
use model::{AccountId, Actor, StatusId};

use service::visibility::{self, Place, Seen};

/// A viewer that the plugin may read as.
pub(super) enum Eyes {
    /// An account, or an anonymous viewer.
    Of(Option<Arc<Actor>>),
    /// The system: nothing is hidden.
    All,
}

impl Call {
    /// Checks that the plugin may read as `viewer`.
    pub(super) async fn eyes(&self, viewer: Viewer) -> Result<Eyes, Failure> {
        self.need_core("read")?;
        match viewer {
            Viewer::Caller => Ok(Eyes::Of(self.caller.actor.clone())),
            Viewer::System => {
                self.need_core("read-all")?;
                Ok(Eyes::All)
            }
            Viewer::Account(id) => {
                let id = AccountId::from(id);
                if !self.is_caller(id) {
                    self.need_core("read-as-any")?;
                }
                let person = self.person(id).await?;
                let missing = || failure(404, "core.no-viewer", "There is no such account to look as");
                person.map(|person| Eyes::Of(Some(person))).ok_or_else(missing)
            }
        }
    }

    /// The statuses among `ids` that `eyes` may see, in this order.
    pub(super) async fn seen(&self, eyes: &Eyes, ids: &[StatusId]) -> Result<Vec<Seen>, Failure> {
        Ok(match eyes {
            Eyes::Of(actor) => {
                visibility::statuses(&self.cx, actor.as_deref(), Place::Single, ids).await.or_failure()?
            }
            Eyes::All => visibility::everything(&self.cx, ids).await.or_failure()?,
        })
    }

    /// Checks a permission of `core`; `read-as-any` and `read-all` require `read`.
    pub(super) fn need_core(&self, permission: &str) -> Result<(), Failure> {
        let granted = &self.granted().core;
        if granted.iter().any(|granted| granted == permission || permission == "read") {
            return Ok(());
        }
        Err(denied(&format!("core = [\"{permission}\"]")))
    }

    pub(super) fn is_caller(&self, account: AccountId) -> bool {
        self.caller.actor.as_ref().is_some_and(|actor| actor.id == account)
    }

    /// An account as a viewer; none when it does not exist or is suspended.
    async fn person(&self, id: AccountId) -> Result<Option<Arc<Actor>>, Failure> {
        if let Some(actor) = self.caller.actor.as_ref().filter(|actor| actor.id == id) {
            return Ok(Some(Arc::clone(actor)));
        }
        if let Some(known) = self.people.lock().unwrap_or_else(PoisonError::into_inner).get(&id) {
            return Ok(known.clone());
        }
        let found = service::auth::viewers(&self.cx, &[id]).await.or_failure()?.pop().map(Arc::new);
        self.people.lock().unwrap_or_else(PoisonError::into_inner).insert(id, found.clone());
        Ok(found)
    }
}
