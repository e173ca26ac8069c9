//! Verdicts of extensions: on possible notifications, whose types they may declare, and on sign-ups, which they may admit
//! although registrations are closed.

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::messages::Language;
use crate::{Cx, Origin, Result};
use database::Tx;
use model::notification::NotificationKind;
use model::{AccountId, PluginId, StatusId};

/// Types and verdicts of extensions on notifications. The default of every method is the behaviour of a server
/// without extensions.
#[async_trait]
pub trait JudgeNotifications {
    /// Every notification type that extensions declare.
    fn notification_types(&self) -> Vec<String> {
        Vec::new()
    }

    /// The traits of the notification type `name`, if an extension declares it.
    fn notification_type(&self, _name: &str) -> Option<NotificationTraits> {
        None
    }

    /// The title of pushes of the notification type `name`, with `{name}` for the sender's name: in `language`,
    /// otherwise in English.
    fn notification_title(&self, _name: &str, _language: Language) -> Option<String> {
        None
    }

    /// True when some extension judges notifications of `kind` with the origin `origin`.
    fn judges(&self, _kind: &NotificationKind, _origin: &Origin) -> bool {
        false
    }

    /// The verdicts of extensions on each of `notices`, in order; the strictest wins. No transaction is open.
    async fn judge(&self, _cx: &Cx, notices: &[(Notice, Origin)]) -> Vec<Judgement> {
        vec![Judgement::default(); notices.len()]
    }
}

/// A possible notification.
#[derive(Clone, Debug)]
pub struct Notice {
    /// The account to notify; ignored unless it is local.
    pub receiver: AccountId,
    /// The account that caused it.
    pub from: AccountId,
    /// The notification type.
    pub kind: NotificationKind,
    /// The id of the row it is about: the favourite, follow, follow request, mention or reblog; the status itself for
    /// `status`, `update` and `poll`. Works as an idempotency key, and `service::notification::retract` finds notifications
    /// by it.
    pub activity: i64,
    /// The status shown; for a reblog the original.
    pub status: Option<StatusId>,
}

/// The traits of a notification type.
#[derive(Clone, Copy, Debug)]
pub struct NotificationTraits {
    /// Notifications of this type may be grouped.
    pub groupable: bool,
    /// The receiver's policy may filter it.
    pub filterable: bool,
    /// It may be caused by the receiver.
    pub from_self: bool,
}

/// The verdict of extensions on a notification; a later variant is stricter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// It is created.
    #[default]
    Deliver,
    /// It is created without a push or a stream event.
    Silent,
    /// It is not created.
    Drop,
}

/// Admission of sign-ups by extensions. The default of every method is the behaviour of a server without extensions.
#[async_trait]
pub trait JudgeSignUps {
    /// The sign-up parameters that are passed to extensions.
    fn sign_up_params(&self) -> Vec<String> {
        Vec::new()
    }

    /// The admission of a sign-up with `params`, a subset of [`JudgeSignUps::sign_up_params`]; no transaction is
    /// open.
    ///
    /// # Errors
    /// [`Error::Plugin`](crate::Error::Plugin) when a required extension does not respond.
    async fn judge_sign_up(&self, _cx: &Cx, _params: &Map<String, Value>) -> Result<Option<Admission>> {
        Ok(None)
    }

    /// Lets the extension that gave `admission` count the sign-up, in the transaction that creates `account` next.
    /// `None`, and nothing counted, when the admission is no longer valid.
    ///
    /// # Errors
    /// [`Error::Plugin`](crate::Error::Plugin) when the extension does not respond,
    /// [`Error::Unavailable`](crate::Error::Unavailable) when the database is busy.
    async fn claim_sign_up(
        &self,
        _cx: &Cx,
        _admission: &Admission,
        _params: &Map<String, Value>,
        _account: AccountId,
    ) -> Result<Option<(Tx, Admission)>> {
        Ok(None)
    }
}

/// An extension's admission of a sign-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    pub plugin: PluginId,
    /// The sign-up is allowed although registrations are closed.
    pub opens: bool,
    /// The sign-up needs neither approval nor a reason.
    pub approves: bool,
    /// The inviting account.
    pub invited_by: Option<AccountId>,
}
