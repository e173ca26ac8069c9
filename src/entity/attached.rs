//! Lists, reports, strikes and severances, as members of notifications and of their groups.
//!
//! Reached from [`notification`](super::notification) and [`notification_group`](super::notification_group). One
//! batch for each kind and page, and no statement if no notification has that kind.

use std::collections::HashMap;
use std::sync::Arc;

use super::{account_warning, list, report, severance};
use context::Cx;
use context::by_id::ById;
use context::error::Result;
use context::json::Fragment;
use model::{Actor, NotificationType, RowId};
use service::notification::VisibleNotification;

/// The lists, reports, strikes and severances of a page of notifications.
pub(super) struct Attached {
    /// By the activity of the notification.
    lists: HashMap<i64, Fragment>,
    reports: ById<RowId, Fragment>,
    severances: ById<RowId, Fragment>,
    warnings: ById<RowId, Fragment>,
}

/// A member of a notification.
#[derive(Clone, Copy)]
pub(super) enum Member<'a> {
    None,
    /// The subject was deleted since the notification was read: the notification is left out.
    Gone,
    /// Its name and value.
    Of(&'static str, &'a Fragment),
}

impl Attached {
    /// Loads the subjects of the notifications of `page` to `actor`.
    pub(super) async fn load(
        cx: &Cx,
        actor: &Actor,
        page: impl Iterator<Item = &VisibleNotification> + Clone + Send,
    ) -> Result<Self> {
        let lists: Vec<i64> = page.clone().filter_map(|shown| activity(shown, NotificationType::ListStatus)).collect();
        let lists = list::of_notifications(cx, actor, &lists).await?;
        Self::beside(cx, lists, page).await
    }

    /// Loads the subjects of notifications to many receivers.
    pub(super) async fn load_each(cx: &Cx, shown: &[(Arc<Actor>, VisibleNotification)]) -> Result<Self> {
        let noticed = shown
            .iter()
            .filter_map(|(owner, shown)| Some((owner.as_ref(), activity(shown, NotificationType::ListStatus)?)));
        let (owners, lists): (Vec<&Actor>, Vec<i64>) = noticed.unzip();
        let lists = list::of_each(cx, &owners, &lists).await?;
        Self::beside(cx, lists, shown.iter().map(|(_, shown)| shown)).await
    }

    /// Loads the reports, strikes and severances of the notifications of `page`, to accompany `lists`.
    async fn beside(
        cx: &Cx,
        lists: HashMap<i64, Fragment>,
        page: impl Iterator<Item = &VisibleNotification> + Clone + Send,
    ) -> Result<Self> {
        let reports = page.clone().filter_map(|shown| activity(shown, NotificationType::AdminReport));
        let reports: Vec<RowId> = reports.map(RowId::from).collect();
        let warnings = page.clone().filter_map(|shown| activity(shown, NotificationType::ModerationWarning));
        let warnings: Vec<RowId> = warnings.map(RowId::from).collect();
        let severances = page.filter_map(|shown| activity(shown, NotificationType::SeveredRelationships));
        let severances: Vec<i64> = severances.collect();
        Ok(Self {
            lists,
            reports: report::render(cx, &reports).await?,
            severances: severance::render(cx, &severances).await?,
            warnings: account_warning::render(cx, &warnings).await?,
        })
    }

    /// The subject of `shown`.
    pub(super) fn of(&self, shown: &VisibleNotification) -> Member<'_> {
        if let Some(report) = activity(shown, NotificationType::AdminReport) {
            return self.reports.get(&report.into()).map_or(Member::Gone, |report| Member::Of("report", report));
        }
        if let Some(event) = activity(shown, NotificationType::SeveredRelationships) {
            return self.severances.get(&event.into()).map_or(Member::Gone, |event| Member::Of("event", event));
        }
        if let Some(warning) = activity(shown, NotificationType::ModerationWarning) {
            let warning = self.warnings.get(&warning.into());
            return warning.map_or(Member::Gone, |warning| Member::Of("moderation_warning", warning));
        }
        let list = activity(shown, NotificationType::ListStatus).and_then(|activity| self.lists.get(&activity));
        list.map_or(Member::None, |list| Member::Of("list", list))
    }
}

/// The activity of a notification of this kind.
fn activity(shown: &VisibleNotification, kind: NotificationType) -> Option<i64> {
    let row = &shown.listed.notification;
    (row.kind.core() == Some(kind)).then_some(row.activity_id)
}
