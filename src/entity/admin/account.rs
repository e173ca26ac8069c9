//! <https://docs.joinmastodon.org/entities/Admin_Account/>

use std::collections::HashMap;
use std::net::IpAddr;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::account;
use crate::credential::Role;
use context::Cx;
use context::by_id::ById;
use context::error::{Error, Result};
use context::json::Fragment;
use model::{AccountId, AppId, Time};
use service::user_ip;
use store::managed_account::ManagedAccount;

/// An account as the staff sees it. What a user has is `None` for a remote account.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct AdminAccount<'a> {
    id: AccountId,
    username: &'a str,
    domain: Option<&'a str>,
    created_at: String,
    email: Option<&'a str>,
    /// The newest of `ips`.
    ip: Option<&'a str>,
    confirmed: Option<bool>,
    suspended: bool,
    silenced: bool,
    sensitized: bool,
    disabled: Option<bool>,
    approved: Option<bool>,
    locale: Option<&'a str>,
    invite_request: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_by_application_id: Option<AppId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    invited_by_account_id: Option<AccountId>,
    /// The addresses that the user came from, the newest first.
    ips: Option<&'a [Ip]>,
    account: Box<RawValue>,
    role: Option<Role>,
}

/// <https://docs.joinmastodon.org/entities/Admin_Ip/>
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Ip {
    ip: String,
    used_at: String,
}

/// Renders accounts, by id. Two statements, and one for each kind of part that is not cached.
pub async fn render(cx: &Cx, rows: &[ManagedAccount]) -> Result<ById<AccountId, Fragment>> {
    if rows.is_empty() {
        return Ok(Vec::new().into());
    }
    let versions: Vec<(AccountId, i64)> = rows.iter().map(|row| (row.id, row.version)).collect();
    let accounts = account::render_versions(cx, &versions).await?;
    let ips = addresses(cx, rows).await?;
    let shown = rows.iter().filter_map(|row| Some((row, accounts.get(&row.id)?)));
    let entries = shown.map(|(row, account)| {
        let ips = ips.get(&row.id).map_or(&[][..], Vec::as_slice);
        Ok((row.id, Fragment::of(&AdminAccount::new(row, account, ips)?)?))
    });
    Ok(entries.collect::<Result<Vec<_>>>()?.into())
}

/// Renders the accounts that exist among `ids`, by id. As [`render`], with one statement more.
pub async fn render_ids(cx: &Cx, ids: &[AccountId]) -> Result<ById<AccountId, Fragment>> {
    render(cx, &store::managed_account::list_by_ids(&cx.db, ids).await?).await
}

/// Renders one account.
///
/// # Errors
/// [`Error::NotFound`] when it was deleted meanwhile.
pub async fn render_one(cx: &Cx, row: &ManagedAccount) -> Result<Fragment> {
    let rendered = render(cx, std::slice::from_ref(row)).await?;
    rendered.get(&row.id).cloned().ok_or(Error::NotFound)
}

/// The addresses of the users among `rows`.
async fn addresses(cx: &Cx, rows: &[ManagedAccount]) -> Result<HashMap<AccountId, Vec<Ip>>> {
    let users: Vec<AccountId> = rows.iter().filter_map(|row| row.user_id).collect();
    if users.is_empty() {
        return Ok(HashMap::new());
    }
    let used = user_ip::latest_ips(cx, &users).await?.into_iter();
    let ip = |(ip, used_at): (IpAddr, Time)| Ip { ip: ip.to_string(), used_at: used_at.to_api() };
    Ok(used.map(|(account, ips)| (account, ips.into_iter().map(ip).collect())).collect())
}

impl<'a> AdminAccount<'a> {
    fn new(row: &'a ManagedAccount, account: &str, ips: &'a [Ip]) -> Result<Self> {
        let user = row.user_id.is_some();
        Ok(Self {
            id: row.id,
            username: &row.username,
            domain: row.domain.as_deref(),
            created_at: row.created_at.to_api(),
            email: row.email.as_deref(),
            ip: ips.first().map(|ip| ip.ip.as_str()),
            confirmed: user.then_some(row.confirmed_at.is_some()),
            suspended: row.suspended_at.is_some(),
            silenced: row.limited_at.is_some(),
            sensitized: row.sensitized_at.is_some(),
            disabled: row.disabled,
            approved: row.approved,
            locale: row.locale.as_deref(),
            invite_request: row.sign_up_reason.as_deref(),
            created_by_application_id: row.sign_up_app_id,
            invited_by_account_id: row.invited_by_account_id,
            ips: user.then_some(ips),
            account: RawValue::from_string(account.to_owned()).map_err(Error::internal)?,
            role: user.then(|| Role::new(&row.role, row.permissions, row.role_highlighted)),
        })
    }
}
