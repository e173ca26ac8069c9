//! Flag: another server reports accounts and statuses.

use context::Cx;
use model::report::ReportCategory;
use service::filing::{self, NotFiled, RemoteReport};

use super::inbound::Inbound;
use super::reason::Reason;
use super::refusal::Ignored;

/// Most ids of accounts and statuses that are looked up; further ones are left out.
const OBJECTS_MAX: usize = 200;
/// Longest comment, in characters; the rest is left out (docs/contract/federation.md#7-accepting-activities).
const COMMENT_MAX: usize = 5_000;

/// Files a report about each of the accounts that are of this server, or of another one whose reported statuses respond to
/// this server.
pub(super) async fn flag(cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
    inbound.is_not_undone(cx).await?;
    let domain = inbound.sender.domain.as_deref().ok_or(Reason::NotTheActor)?;
    let ids = inbound.activity.object.iter().filter_map(|object| object.id.clone());
    let comment = inbound.activity.content.as_deref().unwrap_or_default();
    let report = RemoteReport {
        sender: inbound.sender.id,
        domain,
        uri: inbound.id(),
        comment: comment.chars().filter(|letter| *letter != '\0').take(COMMENT_MAX).collect(),
        category: category(inbound),
        objects: ids.take(OBJECTS_MAX).collect(),
    };
    match filing::receive(cx, report).await? {
        Ok(()) => Ok(()),
        Err(NotFiled::Rejected) => Err(Reason::ReportsRejected.into()),
        Err(NotFiled::Unrelated) => Err(Reason::UnknownTarget.into()),
        Err(NotFiled::TooMany) => Err(Reason::TooManyReports.into()),
        Err(NotFiled::Known) => Err(Reason::KnownReport.into()),
    }
}

/// The reason, where the sender states one of those that this server has. `violation` names rules of another server.
fn category(inbound: &Inbound) -> ReportCategory {
    match inbound.activity.category.as_deref().and_then(|word| word.parse().ok()) {
        Some(category @ (ReportCategory::Spam | ReportCategory::Legal)) => category,
        Some(ReportCategory::Violation | ReportCategory::Other) | None => ReportCategory::Other,
    }
}
