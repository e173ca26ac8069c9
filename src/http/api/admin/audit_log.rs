//! The audit log.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::auth::{AdminRead, StaffAuth, ViewAuditLog};
use crate::extract::{Paging, Params};
use crate::page::Page;
use model::{AccountId, RowId};
use service::audit::{self, AuditFilter};

/// Query parameters of [`index`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct AuditLogParams {
    /// Only changes by this member of staff.
    account_id: Option<AccountId>,
    /// Only this action, such as `account.suspend`, or all actions on a kind of target, such as `account`.
    action: Option<String>,
    /// Only changes of the target of this kind, such as `account`; needs `target_id`.
    target_type: Option<String>,
    /// Only changes of the target with this id; needs `target_type`.
    target_id: Option<RowId>,
}

/// `GET /api/v1/admin/audit_log`
pub async fn index(
    cx: Cx,
    _: StaffAuth<AdminRead, ViewAuditLog>,
    paging: Paging<100, 200>,
    Params(params): Params<AuditLogParams>,
) -> Result<Page<entity::admin::AuditEntry>> {
    let target = match (params.target_type, params.target_id) {
        (Some(kind), Some(id)) => Some((kind, i64::from(id))),
        (None, None) => None,
        _ => return Err(Error::invalid("target_type and target_id are needed together").into()),
    };
    let filter = AuditFilter { account: params.account_id, action: params.action, target };
    let rows = audit::list(&cx, &filter, &paging.cursor).await?;
    Page::of_entities(&paging, rows.into_iter().map(|row| (row.id.into(), row.into())).collect())
}
