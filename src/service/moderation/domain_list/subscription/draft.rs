//! Changes that a list proposes: applied or dismissed by the staff.

use std::collections::HashSet;

use serde_json::json;

use super::reconcile;
use crate::audit::{self, Entry, Target};
use context::Cx;
use context::error::{Error, Result};
use model::domain_list::DraftChange;
use model::{RowId, Staff};
pub use store::domain_subscription::Draft;
use store::domain_subscription::ListedDomain;

/// Most drafts of a page.
pub const PAGE: i64 = 500;
/// Most rows of one statement.
const ROWS: usize = 2_000;

/// A decision about drafts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Apply,
    /// They are not proposed again until the list changes these entries.
    Dismiss,
}

/// The drafts of a list, by domain: at most [`PAGE`] after the domain `after`.
///
/// # Errors
/// [`Error::NotFound`] for an unknown list.
#[model::use_case]
pub async fn list(cx: &Cx, id: RowId, after: &str) -> Result<Vec<Draft>> {
    super::find(cx, id).await?;
    Ok(store::domain_subscription::list_open_drafts(&cx.db, id, after, PAGE).await?)
}

/// Applies or dismisses the drafts of a list: those about `domains`, or all of them. Returns how many.
///
/// # Errors
/// [`Error::NotFound`] for an unknown list; [`Error::Invalid`] for a domain without a draft.
#[model::use_case]
pub async fn decide(
    cx: &Cx,
    staff: &Staff,
    id: RowId,
    domains: Option<Vec<String>>,
    decision: Decision,
) -> Result<usize> {
    let mut tx = cx.db.begin().await?;
    let list = super::lock(&mut tx, id).await?;
    let open: Vec<Draft> = store::domain_subscription::list_drafts(&mut tx, id)
        .await?
        .into_iter()
        .filter(|draft| !draft.dismissed)
        .collect();
    let chosen: Vec<Draft> = match domains {
        None => open,
        Some(domains) => {
            let chosen: HashSet<String> = domains.into_iter().map(|domain| domain.trim().to_lowercase()).collect();
            if let Some(unknown) = chosen.iter().find(|domain| !open.iter().any(|draft| draft.domain == **domain)) {
                return Err(Error::invalid(format!("There is no draft about {unknown:?}")));
            }
            open.into_iter().filter(|draft| chosen.contains(&draft.domain)).collect()
        }
    };
    let names: Vec<&str> = chosen.iter().map(|draft| draft.domain.as_str()).collect();
    let target = Target::new("domain_list", list.id, list.url);
    let (entry, changes) = match decision {
        Decision::Dismiss => {
            let dismissed: Vec<Draft> = chosen.iter().map(|draft| Draft { dismissed: true, ..draft.clone() }).collect();
            for chunk in dismissed.chunks(ROWS) {
                store::domain_subscription::put_drafts(&mut tx, id, chunk).await?;
            }
            let details = json!({ "drafts": chosen.len() });
            (Entry::new("domain_list.dismiss", target).with(details), reconcile::Changes::default())
        }
        Decision::Apply => {
            let put: Vec<ListedDomain> = chosen
                .iter()
                .filter_map(|draft| Some(ListedDomain { domain: draft.domain.clone(), block: draft.block.clone()? }))
                .collect();
            let removed = chosen.iter().filter(|draft| draft.change == DraftChange::Remove);
            let removed: Vec<&str> = removed.map(|draft| draft.domain.as_str()).collect();
            for chunk in put.chunks(ROWS) {
                store::domain_subscription::put_entries(&mut tx, id, chunk).await?;
            }
            for chunk in removed.chunks(ROWS) {
                store::domain_subscription::delete_entries(&mut tx, id, chunk).await?;
            }
            for chunk in names.chunks(ROWS) {
                store::domain_subscription::delete_drafts(&mut tx, id, chunk).await?;
            }
            let changes = reconcile::reconcile(cx, &mut tx).await?;
            (Entry::new("domain_list.apply", target).with(changes.details()), changes)
        }
    };
    audit::record(cx, &mut tx, staff, entry).await?;
    changes.commit(cx, tx).await?;
    Ok(chosen.len())
}
