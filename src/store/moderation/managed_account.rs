//! Accounts with what only the staff sees: sign-up, e-mail address, role and the marks of moderators.
//!
//! Reached from `service::moderation`, which checks rank, and from the entities of the admin API.

use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::moderation::{AccountStatus, Origin};
use model::{AccountId, AppId, Cursor, Time, boxed};

use crate::role::{AssignedRole, RolePermissions, assigned_role_columns, role_joins, role_permission_columns};

/// An account as the staff sees it. What a user has is `None` for a remote account, and for a local one whose removal
/// has begun.
#[derive(Clone, Debug, model::Row)]
pub struct ManagedAccount {
    pub id: AccountId,
    /// Key of its cached rendering.
    pub version: i64,
    pub username: String,
    /// `None`: local.
    pub domain: Option<String>,
    pub created_at: Time,
    pub suspended_at: Option<Time>,
    pub limited_at: Option<Time>,
    pub sensitized_at: Option<Time>,
    /// Set for a local account with a user.
    pub user_id: Option<AccountId>,
    pub email: Option<String>,
    pub confirmed_at: Option<Time>,
    pub approved: Option<bool>,
    pub disabled: Option<bool>,
    pub locale: Option<String>,
    /// Why the person wants to join.
    pub sign_up_reason: Option<String>,
    pub sign_up_app_id: Option<AppId>,
    pub invited_by_account_id: Option<AccountId>,
    #[row(flatten)]
    pub role: AssignedRole,
    pub role_highlighted: Option<bool>,
    #[row(flatten)]
    pub permissions: RolePermissions,
}

/// The accounts that a list has.
#[derive(Clone, Debug, Default)]
pub struct AccountFilter {
    pub origin: Option<Origin>,
    pub status: Option<AccountStatus>,
    /// Whose role, without the default role, has one of these permission bits; 0: any.
    pub permissions: i64,
    /// With one of these roles, the default role included; empty: any.
    pub roles: Vec<i64>,
    pub invited_by: Option<AccountId>,
    /// Beginning of the user name, ignoring case.
    pub username: Option<String>,
    /// Beginning of the display name, ignoring case.
    pub display_name: Option<String>,
    /// Beginning of the e-mail address, ignoring case.
    pub email: Option<String>,
    /// The domain of remote accounts, in lower-case ASCII.
    pub domain: Option<String>,
    /// Only these accounts; `None`: all.
    pub among: Option<Vec<AccountId>>,
}

/// The columns of [`ManagedAccount`].
macro_rules! managed_columns {
    () => {
        concat!(
            "a.id, a.version, a.username, a.domain, a.created_at, a.suspended_at, a.limited_at, a.sensitized_at,
             u.account_id AS user_id, u.email, u.confirmed_at, u.approved, u.disabled, u.locale, u.sign_up_reason,
             u.sign_up_app_id, u.invited_by_account_id, r.highlighted AS role_highlighted, ",
            assigned_role_columns!(),
            ", ",
            role_permission_columns!()
        )
    };
}

/// The accounts among `ids`, in no particular order.
#[boxed]
pub async fn list_by_ids(db: Conn<'_>, ids: &[AccountId]) -> Result<Vec<ManagedAccount>> {
    db.query(sql!(
        "SELECT " managed_columns!() " FROM accounts a LEFT JOIN users u ON u.account_id = a.id" role_joins!()
        "WHERE a.id" in("$1")
    ))
    .bind(Ids::of(ids.iter().copied()))
    .all()
    .await
}

/// The account `id`.
#[boxed]
pub async fn find(db: Conn<'_>, id: AccountId) -> Result<Option<ManagedAccount>> {
    Ok(list_by_ids(db, &[id]).await?.pop())
}

/// A page of accounts, newest first. Local accounts are read from the users, accounts of one domain by the index of
/// domains.
#[boxed]
pub async fn list(db: Conn<'_>, filter: &AccountFilter, cursor: &Cursor) -> Result<Vec<ManagedAccount>> {
    macro_rules! matching {
        ($from:literal, $key:literal, $more:literal) => {
            database::paged!(
                cursor,
                "SELECT " managed_columns!() " FROM " $from role_joins!() "WHERE " $key " < $1 AND " $key " > $2 AND " $more "
                   AND a.id > 0 AND (a.domain IS NOT NULL OR u.account_id IS NOT NULL)
                   AND ($3 = '' OR ($3 = 'local') = (a.domain IS NULL))
                   AND ($4 = ''
                        OR ($4 = 'active' AND a.suspended_at IS NULL)
                        OR ($4 = 'pending' AND NOT u.approved)
                        OR ($4 = 'disabled' AND u.disabled)
                        OR ($4 = 'silenced' AND a.limited_at IS NOT NULL)
                        OR ($4 = 'suspended' AND a.suspended_at IS NOT NULL)
                        OR ($4 = 'sensitized' AND a.sensitized_at IS NOT NULL))
                   AND ($5 = 0 OR (coalesce(r.permissions, 0) & $5) <> 0)
                   AND ($6 = FALSE OR (u.account_id IS NOT NULL AND coalesce(u.role_id, -99)" in("$7") "))
                   AND ($8 = 0 OR u.invited_by_account_id = $8)
                   AND ($9 = '' OR lower(a.username) LIKE $9 ESCAPE '!')
                   AND ($10 = '' OR lower(a.display_name) LIKE $10 ESCAPE '!')
                   AND ($11 = '' OR lower(u.email) LIKE $11 ESCAPE '!')
                   AND ($12 = FALSE OR a.id" in("$13") ")",
                by $key, limit "$15"
            )
        };
    }
    let of_users = filter.origin == Some(Origin::Local)
        || filter.permissions != 0
        || !filter.roles.is_empty()
        || filter.invited_by.is_some()
        || filter.email.is_some()
        || matches!(filter.status, Some(AccountStatus::Pending | AccountStatus::Disabled));
    let sql = match (&filter.domain, of_users) {
        (Some(_), _) => {
            matching!("accounts a LEFT JOIN users u ON u.account_id = a.id", "a.id", "a.domain = $14")
        }
        (None, true) => {
            matching!("users u CROSS JOIN accounts a", "u.account_id", "a.id = u.account_id AND $14 = ''")
        }
        (None, false) => matching!("accounts a LEFT JOIN users u ON u.account_id = a.id", "a.id", "$14 = ''"),
    };
    let rows = db
        .query(sql)
        .bind(cursor.before())
        .bind(cursor.after())
        .bind(filter.origin.map_or("", Origin::as_str).to_owned())
        .bind(filter.status.map_or("", AccountStatus::as_str).to_owned())
        .bind(filter.permissions)
        .bind(!filter.roles.is_empty())
        .bind(Ids::of(filter.roles.iter().copied()))
        .bind(filter.invited_by.map_or(0, i64::from))
        .bind(beginning(filter.username.as_deref()))
        .bind(beginning(filter.display_name.as_deref()))
        .bind(beginning(filter.email.as_deref()))
        .bind(filter.among.is_some())
        .bind(Ids::of(filter.among.iter().flatten().copied()))
        .bind(filter.domain.clone().unwrap_or_default())
        .bind(cursor.limit)
        .all()
        .await?;
    Ok(cursor.newest_first(rows))
}

/// The pattern of `LIKE` for texts that begin with `text`; blank for any.
fn beginning(text: Option<&str>) -> String {
    let Some(text) = text else { return String::new() };
    let mut pattern = String::with_capacity(text.len() + 1);
    for c in text.to_lowercase().chars() {
        if matches!(c, '!' | '%' | '_') {
            pattern.push('!');
        }
        pattern.push(c);
    }
    pattern + "%"
}

/// Limits (silences) an account, or lifts the limit with `None`; false when nothing changes.
#[boxed]
pub async fn set_limited(tx: &mut Tx, id: AccountId, at: Option<Time>) -> Result<bool> {
    let changed = tx
        .query(sql!(
            "UPDATE accounts SET limited_at = $2, version = version + 1
             WHERE id = $1 AND (limited_at IS NULL) <> (CAST($3 AS BOOLEAN))"
        ))
        .bind(id)
        .bind(at)
        .bind(at.is_none())
        .execute()
        .await?;
    Ok(changed > 0)
}

/// Marks all media of an account as sensitive, or lifts the mark with `None`; false when nothing changes.
#[boxed]
pub async fn set_sensitized(tx: &mut Tx, id: AccountId, at: Option<Time>) -> Result<bool> {
    let changed = tx
        .query(sql!(
            "UPDATE accounts SET sensitized_at = $2, version = version + 1
             WHERE id = $1 AND (sensitized_at IS NULL) <> (CAST($3 AS BOOLEAN))"
        ))
        .bind(id)
        .bind(at)
        .bind(at.is_none())
        .execute()
        .await?;
    Ok(changed > 0)
}

/// Prevents the sign-in of a local account, or permits it again; false when nothing changes.
#[boxed]
pub async fn set_disabled(tx: &mut Tx, id: AccountId, disabled: bool) -> Result<bool> {
    let changed = tx
        .query(sql!("UPDATE users SET disabled = $2 WHERE account_id = $1 AND disabled <> $2"))
        .bind(id)
        .bind(disabled)
        .execute()
        .await?;
    Ok(changed > 0)
}
