//! Roles: the permissions of staff, and the columns of a role that are read with an account. Permission bits:
//! docs/contract/rules.md#2-authentication.

use database::{Conn, Result, Tx, sql};
use model::staff::{DEFAULT_ROLE, NO_POSITION, OWNER_ROLE};
use model::{AccountId, Json, Permissions, Preferences, RowId, boxed};

/// The role assigned to an account; empty when there is none.
#[derive(Clone, Debug, model::Row)]
pub struct AssignedRole {
    #[row(rename = "role_id")]
    pub id: Option<i64>,
    #[row(rename = "role_name")]
    pub name: Option<String>,
    #[row(rename = "role_color")]
    pub color: Option<String>,
}

/// The columns of [`AssignedRole`], from a left join of `roles` with the alias `r`.
macro_rules! assigned_role_columns {
    () => {
        "r.id AS role_id, r.name AS role_name, r.color AS role_color"
    };
}
pub(crate) use assigned_role_columns;

/// The permissions of an account, from its role and from the default role.
#[derive(Clone, Copy, Debug, model::Row)]
pub struct RolePermissions {
    #[row(rename = "role_permissions")]
    role: Option<i64>,
    #[row(rename = "everyone_permissions")]
    everyone: Option<i64>,
    #[row(rename = "role_position")]
    position: Option<i64>,
}

impl RolePermissions {
    /// The effective permissions of the account.
    #[must_use]
    pub fn effective(self) -> Permissions {
        Permissions::effective(self.role.unwrap_or_default(), self.everyone.unwrap_or_default())
    }

    /// The position of the role; [`NO_POSITION`] without one.
    #[must_use]
    pub fn position(self) -> i64 {
        self.position.unwrap_or(NO_POSITION)
    }
}

/// The columns of [`RolePermissions`], from the tables that `role_joins!` joins.
macro_rules! role_permission_columns {
    () => {
        "r.permissions AS role_permissions, e.permissions AS everyone_permissions, r.position AS role_position"
    };
}
pub(crate) use role_permission_columns;

/// Joins the role of user `u` as `r` and the default role, which every user has and whose id is -99, as `e`.
macro_rules! role_joins {
    () => {
        " LEFT JOIN roles r ON r.id = u.role_id LEFT JOIN roles e ON e.id = -99 "
    };
}
pub(crate) use role_joins;

/// A role.
#[derive(Clone, Debug, PartialEq, Eq, model::Row)]
#[row(table = "roles", alias = "r")]
pub struct Role {
    pub id: RowId,
    pub name: String,
    /// As `#ff0000`; empty for none.
    pub color: String,
    pub position: i64,
    /// Its own permission bits.
    pub permissions: i64,
    /// Shown on profiles.
    pub highlighted: bool,
}

impl Role {
    /// True for the role that every user has.
    #[must_use]
    pub fn is_default(&self) -> bool {
        i64::from(self.id) == DEFAULT_ROLE
    }

    /// True for the role of the owners of the server.
    #[must_use]
    pub fn is_owner(&self) -> bool {
        i64::from(self.id) == OWNER_ROLE
    }
}

/// All roles, the highest position first; the default role, which every user has, is the last.
#[boxed]
pub async fn list(db: Conn<'_>) -> Result<Vec<Role>> {
    db.query(sql!("SELECT " role_columns!() " FROM roles r ORDER BY r.position DESC, r.id")).all().await
}

/// As [`list`], locked against other changes of roles and their assignment until the transaction ends.
#[boxed]
pub async fn lock_all(tx: &mut Tx) -> Result<Vec<Role>> {
    tx.query(sql!(
        sqlite: "SELECT " role_columns!() " FROM roles r ORDER BY r.position DESC, r.id";
        postgres: "SELECT " role_columns!() " FROM roles r ORDER BY r.position DESC, r.id FOR NO KEY UPDATE"
    ))
    .all()
    .await
}

/// Inserts a role.
///
/// # Errors
/// A violation of `roles_name` when the name is taken.
#[boxed]
pub async fn insert(tx: &mut Tx, role: &Role) -> Result<()> {
    tx.query(sql!(role_insert!())).bind_row(role).execute().await?;
    Ok(())
}

/// Replaces all columns of a role.
///
/// # Errors
/// As [`insert`].
#[boxed]
pub async fn update(tx: &mut Tx, role: &Role) -> Result<()> {
    tx.query(sql!(
        "UPDATE roles SET name = $2, color = $3, position = $4, permissions = $5, highlighted = $6 WHERE id = $1"
    ))
    .bind(role.id)
    .bind(role.name.clone())
    .bind(role.color.clone())
    .bind(role.position)
    .bind(role.permissions)
    .bind(role.highlighted)
    .execute()
    .await?;
    Ok(())
}

/// Deletes a role and takes it from its holders.
#[boxed]
pub async fn delete(tx: &mut Tx, id: RowId) -> Result<()> {
    tx.query(sql!("UPDATE users SET role_id = NULL WHERE role_id = $1")).bind(id).execute().await?;
    tx.query(sql!("DELETE FROM roles WHERE id = $1")).bind(id).execute().await?;
    Ok(())
}

/// Invalidates the renderings of the holders of a role.
#[boxed]
pub async fn bump_holders(tx: &mut Tx, id: RowId) -> Result<()> {
    tx.query(sql!(
        "UPDATE accounts SET version = version + 1
         WHERE id IN (SELECT u.account_id FROM users u WHERE u.role_id = $1)"
    ))
    .bind(id)
    .execute()
    .await?;
    Ok(())
}

/// How many users have the role.
#[boxed]
pub async fn count_holders(db: Conn<'_>, id: RowId) -> Result<i64> {
    db.query(sql!("SELECT COUNT(*) FROM users u WHERE u.role_id = $1")).bind(id).scalar().await
}

/// True when a user other than `account` has the role and can sign in.
#[boxed]
pub async fn has_other_holder(db: Conn<'_>, id: RowId, account: Option<AccountId>) -> Result<bool> {
    let found: Vec<AccountId> = db
        .query(sql!(
            "SELECT u.account_id FROM users u JOIN accounts a ON a.id = u.account_id
             WHERE u.role_id = $1 AND u.account_id <> $2 AND u.approved AND NOT u.disabled
                   AND u.confirmed_at IS NOT NULL AND a.suspended_at IS NULL
             LIMIT 1"
        ))
        .bind(id)
        .bind(account.unwrap_or(AccountId::from(0)))
        .scalars()
        .await?;
    Ok(!found.is_empty())
}

/// The own permissions of a role; none when it is missing.
#[boxed]
pub async fn permissions(db: Conn<'_>, id: i64) -> Result<i64> {
    let found = db.query(sql!("SELECT r.permissions FROM roles r WHERE r.id = $1")).bind(id).scalars().await?;
    Ok(found.into_iter().next().unwrap_or_default())
}

/// The permissions of the default role, which every user has.
#[boxed]
pub async fn permissions_of_everybody(db: Conn<'_>) -> Result<i64> {
    let found = db.query(sql!("SELECT r.permissions FROM roles r WHERE r.id = -99")).scalars().await?;
    Ok(found.into_iter().next().unwrap_or_default())
}

/// The accounts whose role has one of the permission bits `any`, with their preferences. The default role, which every
/// user has, does not count.
#[boxed]
pub async fn list_staff(db: Conn<'_>, any: i64) -> Result<Vec<(AccountId, Json<Preferences>)>> {
    db.query(sql!(
        "SELECT u.account_id, u.preferences FROM users u
         WHERE u.role_id IN (SELECT r.id FROM roles r WHERE r.id > 0 AND (r.permissions & $1) <> 0)"
    ))
    .bind(any)
    .all()
    .await
}
