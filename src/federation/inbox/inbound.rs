//! An accepted activity, as the files of its kinds read it.

use context::Cx;
use model::AccountId;
use store::remote::ActorRow;

use super::reason::Reason;
use super::refusal::Ignored;
use crate::address::same_host;
use crate::vocabulary::{Activity, Object};

/// An activity with its sender.
#[derive(Debug)]
pub(super) struct Inbound {
    pub(super) activity: Activity,
    pub(super) sender: ActorRow,
    /// The owner of the inbox; `None` for an inbox of the server.
    pub(super) mailbox: Option<AccountId>,
}

impl Inbound {
    /// The object of the activity.
    ///
    /// # Errors
    /// [`Reason::NoObject`] when there is none, or several.
    pub(super) fn object(&self) -> Result<&Object, Ignored> {
        match &*self.activity.object {
            [object] => Ok(object),
            _ => Err(Reason::NoObject.into()),
        }
    }

    /// The id of the activity, if it is one of the sender's host: others cannot be asked about.
    pub(super) fn id(&self) -> Option<&str> {
        let id = self.activity.id.as_deref()?;
        same_host(id, &self.sender.uri).then_some(id)
    }

    /// Fails for an activity that the sender undid before it came.
    ///
    /// # Errors
    /// [`Reason::DeletedBefore`].
    pub(super) async fn is_not_undone(&self, cx: &Cx) -> Result<(), Ignored> {
        match self.id() {
            Some(uri) if service::remote::relevance::is_undone(cx, self.sender.id, uri).await? => {
                Err(Reason::DeletedBefore.into())
            }
            _ => Ok(()),
        }
    }
}
