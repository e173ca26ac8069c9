//! Notifications to the staff: of sign-ups and reports.
//!
//! Spec: docs/contract/rules.md#13-notifications, and docs/contract/events.md#1-notification-types.

use super::notify;
use context::Cx;
use context::error::Result;
use context::extension::Notice;
use database::Tx;
use model::{AccountId, NotificationType, Permissions, Preferences};

/// An event that staff is notified of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaffNotice {
    /// A sign-up whose account can be used from now on.
    SignUp,
    /// A report.
    Report,
}

/// The types of notifications that staff with these permissions gets, unless a preference switches them off.
#[must_use]
pub fn staff_notifications(permissions: Permissions) -> Vec<NotificationType> {
    let noticed = |notice: &StaffNotice| permissions.has(notice.permission());
    [StaffNotice::SignUp, StaffNotice::Report].into_iter().filter(noticed).map(StaffNotice::kind).collect()
}

impl StaffNotice {
    fn kind(self) -> NotificationType {
        match self {
            Self::SignUp => NotificationType::AdminSignUp,
            Self::Report => NotificationType::AdminReport,
        }
    }

    /// The permission of the notified staff.
    fn permission(self) -> i64 {
        match self {
            Self::SignUp => Permissions::MANAGE_USERS,
            Self::Report => Permissions::MANAGE_REPORTS,
        }
    }
}

/// Notifies everyone whose role has the permission, and who did not switch it off, of an event caused by `from`;
/// `activity` is the id of its row.
pub async fn notify_staff(
    cx: &Cx,
    tx: &mut Tx,
    notice: StaffNotice,
    from: AccountId,
    activity: impl Into<i64>,
) -> Result<()> {
    let activity = activity.into();
    let staff = store::role::list_staff(&mut *tx, notice.permission() | Permissions::ADMINISTRATOR).await?;
    let for_receiver = |receiver| Notice { receiver, from, kind: notice.kind().into(), activity, status: None };
    let wants = |preferences: &Preferences| !preferences.muted_staff_notifications.contains(&notice.kind());
    let receivers = staff.into_iter().filter(|(_, preferences)| wants(&preferences.0)).map(|(account, _)| account);
    let notices: Vec<Notice> = receivers.map(for_receiver).collect();
    notify(cx, tx, &notices).await.map(drop)
}
