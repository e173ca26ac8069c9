//! Accounts: lists with their filters, sign-ups, and lifting what moderators imposed.
//!
//! Spec: <https://docs.joinmastodon.org/methods/admin/accounts/>

use std::str::FromStr;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::auth::{AdminReadAccounts, AdminWriteAccounts, DeleteUserData, ManageUsers, StaffAuth};
use crate::extract::{Paging, Params, Path};
use crate::json::Json;
use crate::page::{Links, Page};
use context::json::Fragment;
use model::moderation::{AccountStatus, Origin, WarningAction};
use model::params::required;
use model::{AccountId, Permissions, RowId};
use service::moderation::account::{self, AccountFilter};
use service::moderation::action::{self, ActionParams};
use service::user_ip;

/// Query parameters of [`index`]. A flag counts when it has any value that is not blank, also `false`.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct AccountsParamsV1 {
    /// Only local accounts, which is the default.
    local: Option<String>,
    /// Only remote accounts; wins over `local`.
    remote: Option<String>,
    /// The domain of remote accounts.
    by_domain: Option<String>,
    /// Only accounts that are not suspended, which is the default. Of several states the last one wins.
    active: Option<String>,
    /// Only sign-ups that await approval.
    pending: Option<String>,
    /// Only accounts that may not sign in.
    disabled: Option<String>,
    /// Only limited accounts.
    silenced: Option<String>,
    /// Only suspended accounts.
    suspended: Option<String>,
    /// Accepted and without effect.
    sensitized: Option<String>,
    /// The beginning of the user name.
    username: Option<String>,
    /// The beginning of the display name.
    display_name: Option<String>,
    /// The beginning of the e-mail address.
    email: Option<String>,
    /// An address or a network in CIDR notation that the user came from.
    ip: Option<String>,
    /// Only accounts whose role manages reports.
    staff: Option<String>,
}

/// Query parameters of [`index_v2`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct AccountsParams {
    #[schemars(with = "Option<Origin>")]
    origin: Option<String>,
    #[schemars(with = "Option<AccountStatus>")]
    status: Option<String>,
    /// `staff`: only accounts whose role manages reports; `role_ids` has no effect then.
    permissions: Option<String>,
    /// Only accounts with one of these roles.
    role_ids: Option<Vec<RowId>>,
    /// Only accounts that this one invited.
    invited_by: Option<AccountId>,
    /// The beginning of the user name, with `@` or without.
    username: Option<String>,
    /// The domain of remote accounts.
    by_domain: Option<String>,
    /// The beginning of the display name.
    display_name: Option<String>,
    /// The beginning of the e-mail address.
    email: Option<String>,
    /// An address or a network in CIDR notation that the user came from; an invalid one finds nothing.
    ip: Option<String>,
}

/// Body parameters of [`act`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct AccountActionParams {
    #[serde(rename = "type")]
    #[schemars(transform = required)]
    kind: Option<WarningAction>,
    /// The report that led to the action. With the type `none` only this one is resolved, otherwise all about the
    /// account.
    report_id: Option<RowId>,
    /// A preset text, which comes before `text`.
    warning_preset_id: Option<RowId>,
    /// At most 5,000 characters.
    text: Option<String>,
    /// Whether a local account gets a mail and a notification; true by default.
    send_email_notification: Option<bool>,
}

/// A page of 100 accounts, at most 200.
type AccountPaging = Paging<100, 200>;

/// `GET /api/v1/admin/accounts`
pub async fn index(
    cx: Cx,
    _: StaffAuth<AdminReadAccounts, ManageUsers>,
    paging: AccountPaging,
    Params(params): Params<AccountsParamsV1>,
) -> Result<Page<entity::admin::Account>> {
    let set = |flag: &Option<String>| flag.as_deref().is_some_and(|value| !value.trim().is_empty());
    let domain = params.by_domain.filter(|domain| !domain.trim().is_empty());
    let states = [
        (set(&params.active), AccountStatus::Active),
        (set(&params.pending), AccountStatus::Pending),
        (set(&params.disabled), AccountStatus::Disabled),
        (set(&params.silenced), AccountStatus::Silenced),
        (set(&params.suspended), AccountStatus::Suspended),
    ];
    let status = states.iter().rev().find(|(set, _)| *set).map_or(AccountStatus::Active, |(_, status)| *status);
    let origin = match (set(&params.remote), &domain) {
        (true, Some(_)) => None,
        (true, None) => Some(Origin::Remote),
        (false, _) => Some(Origin::Local),
    };
    let filter = AccountFilter {
        origin,
        status: Some(status),
        permissions: if set(&params.staff) { Permissions::MANAGE_REPORTS | Permissions::ADMINISTRATOR } else { 0 },
        username: params.username.as_deref().and_then(name),
        display_name: params.display_name,
        email: params.email,
        domain: domain.as_deref().map(domain_name),
        ..AccountFilter::default()
    };
    page(&cx, filter, params.ip, &paging).await
}

/// `GET /api/v2/admin/accounts`
pub async fn index_v2(
    cx: Cx,
    _: StaffAuth<AdminReadAccounts, ManageUsers>,
    paging: AccountPaging,
    Params(params): Params<AccountsParams>,
) -> Result<Page<entity::admin::Account>> {
    let staff = params.permissions.as_deref() == Some("staff");
    let roles = params.role_ids.filter(|_| !staff).unwrap_or_default();
    let filter = AccountFilter {
        origin: word("origin", params.origin.as_deref())?,
        status: word("status", params.status.as_deref())?,
        permissions: if staff { Permissions::MANAGE_REPORTS | Permissions::ADMINISTRATOR } else { 0 },
        roles: roles.into_iter().map(i64::from).collect(),
        invited_by: params.invited_by,
        username: params.username.as_deref().and_then(name),
        display_name: params.display_name,
        email: params.email,
        domain: params.by_domain.as_deref().filter(|domain| !domain.trim().is_empty()).map(domain_name),
        among: None,
    };
    page(&cx, filter, params.ip, &paging).await
}

/// `GET /api/v1/admin/accounts/{id}`
pub async fn show(
    cx: Cx,
    _: StaffAuth<AdminReadAccounts, ManageUsers>,
    Path(id): Path<AccountId>,
) -> Result<Json<entity::admin::Account>> {
    one(&cx, id).await
}

/// `POST /api/v1/admin/accounts/{id}/approve`
pub async fn approve(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteAccounts, ManageUsers>,
    Path(id): Path<AccountId>,
) -> Result<Json<entity::admin::Account>> {
    account::approve(&cx, &staff, id, false).await?;
    one(&cx, id).await
}

/// `POST /api/v1/admin/accounts/{id}/reject`
pub async fn reject(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteAccounts, ManageUsers>,
    Path(id): Path<AccountId>,
) -> Result<Json<entity::Empty>> {
    account::reject(&cx, &staff, id).await?;
    Ok(Json::empty())
}

/// `DELETE /api/v1/admin/accounts/{id}`
pub async fn delete(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteAccounts, DeleteUserData>,
    Path(id): Path<AccountId>,
) -> Result<Json<entity::Empty>> {
    account::delete(&cx, &staff, id).await?;
    Ok(Json::empty())
}

/// `POST /api/v1/admin/accounts/{id}/enable`
pub async fn enable(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteAccounts, ManageUsers>,
    Path(id): Path<AccountId>,
) -> Result<Json<entity::admin::Account>> {
    account::enable(&cx, &staff, id).await?;
    one(&cx, id).await
}

/// `POST /api/v1/admin/accounts/{id}/unsilence`
pub async fn unsilence(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteAccounts, ManageUsers>,
    Path(id): Path<AccountId>,
) -> Result<Json<entity::admin::Account>> {
    account::unsilence(&cx, &staff, id).await?;
    one(&cx, id).await
}

/// `POST /api/v1/admin/accounts/{id}/unsensitive`
pub async fn unsensitive(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteAccounts, ManageUsers>,
    Path(id): Path<AccountId>,
) -> Result<Json<entity::admin::Account>> {
    account::unsensitive(&cx, &staff, id).await?;
    one(&cx, id).await
}

/// `POST /api/v1/admin/accounts/{id}/unsuspend`
pub async fn unsuspend(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteAccounts, ManageUsers>,
    Path(id): Path<AccountId>,
) -> Result<Json<entity::admin::Account>> {
    account::unsuspend(&cx, &staff, id).await?;
    one(&cx, id).await
}

/// `POST /api/v1/admin/accounts/{id}/action`
pub async fn act(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteAccounts, ManageUsers>,
    Path(id): Path<AccountId>,
    Params(params): Params<AccountActionParams>,
) -> Result<Json<entity::Empty>> {
    let params = ActionParams {
        action: params.kind.ok_or_else(|| Error::invalid("Validation failed: Type can't be blank"))?,
        report: params.report_id,
        preset: params.warning_preset_id,
        text: params.text.unwrap_or_default(),
        notify: params.send_email_notification.unwrap_or(true),
    };
    action::act(&cx, &staff, id, params).await?;
    Ok(Json::empty())
}

pub(super) async fn one(cx: &Cx, id: AccountId) -> Result<Json<entity::admin::Account>> {
    let found = account::find(cx, id).await?;
    Ok(Json::new(entity::admin::account::render_one(cx, &found).await?))
}

async fn page(
    cx: &Cx,
    mut filter: AccountFilter,
    ip: Option<String>,
    paging: &AccountPaging,
) -> Result<Page<entity::admin::Account>> {
    filter.display_name = filter.display_name.filter(|name| !name.trim().is_empty());
    filter.email = filter.email.map(|email| email.trim().to_owned()).filter(|email| !email.is_empty());
    if let Some(ip) = ip.filter(|ip| !ip.trim().is_empty()) {
        filter.among = Some(user_ip::accounts_of_network(cx, &ip).await?);
    }
    let rows = account::list(cx, &filter, &paging.cursor).await?;
    let rendered = entity::admin::account::render(cx, &rows).await?;
    let ids: Vec<i64> = rows.iter().map(|row| row.id.into()).collect();
    let items: Vec<Fragment> = rows.iter().filter_map(|row| rendered.get(&row.id).cloned()).collect();
    Ok(Page::new(paging, Links::MinId, &ids, items))
}

/// The value of a parameter; `None` when it is blank.
///
/// # Errors
/// [`Error::BadRequest`] that lists the possible values.
fn word<T: FromStr<Err = String>>(name: &str, text: Option<&str>) -> Result<Option<T>> {
    let text = text.filter(|text| !text.is_empty());
    Ok(text.map(str::parse).transpose().map_err(|error| Error::bad_request(format!("{name}: {error}")))?)
}

/// The beginning of a user name as it is sought; `None` when it is blank.
fn name(text: &str) -> Option<String> {
    let name = text.trim().trim_start_matches('@');
    (!name.is_empty()).then(|| name.to_owned())
}

/// A domain as it is stored; one that is none is sought as it is, and not found.
fn domain_name(text: &str) -> String {
    service::domain::normalise(text).unwrap_or_else(|| text.trim().to_lowercase())
}
