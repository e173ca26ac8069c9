//! Flag: a report is forwarded to the servers that it concerns.

use context::{Cx, Result};
use database::Tx;
use model::report::ReportCategory;
use model::{AccountId, RowId};
use serde::Serialize;

use super::activity::CONTEXT;
use super::queue::{Outgoing, send};
use crate::identity;

/// The purpose of the key from which ids of reports are derived: they say nothing of the number of reports.
const PURPOSE: &str = "forwarded report";

/// A report with its text and reason.
#[derive(Serialize)]
struct Flag<'a> {
    #[serde(rename = "@context")]
    context: (&'static str, Terms),
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    actor: String,
    /// The account, then the statuses.
    object: Vec<String>,
    content: &'a str,
    category: ReportCategory,
}

/// The terms that are not of ActivityStreams.
#[derive(Serialize)]
struct Terms {
    schema: &'static str,
    category: &'static str,
}

/// A report is to be forwarded: the server's actor signs it, so that its author stays unnamed.
pub(super) async fn reported(cx: &Cx, tx: &mut Tx, report: RowId) -> Result<()> {
    let Some(report) = store::report::list(&mut *tx, &[report]).await?.pop() else { return Ok(()) };
    let Some(target) = store::remote::get_actor(&mut *tx, report.target_account_id).await? else { return Ok(()) };
    let statuses = report.status_ids.as_ref().map_or(&[][..], |ids| &ids.0);
    let uris = store::archive::list_uris(&mut *tx, statuses).await?;
    let object = std::iter::once(target.uri.clone()).chain(uris.into_iter().map(|(_, uri, _)| uri)).collect();
    let recipients = store::report::recipients(&mut *tx, &report).await?;
    let inboxes = store::delivery::inboxes(&mut *tx, &recipients, false).await?;
    let id = cx.keys.derive(PURPOSE, &i64::from(report.id).to_string());
    let flag = Flag {
        context: (CONTEXT, Terms { schema: "http://schema.org#", category: "schema:category" }),
        id: cx.urls.path(&format!("/payloads/{}", id.expose())),
        kind: "Flag",
        actor: cx.urls.path("/actor"),
        object,
        content: &report.comment,
        category: report.category,
    };
    let outgoing = Outgoing { urgent: true, ..Outgoing::new(AccountId::from(identity::SERVER), &flag)? };
    send(cx, tx, outgoing, inboxes).await
}
