//! Roles: the permissions of staff, and the columns of a role that are read with an account. Permission bits:
//! docs/contract/rules.md#2-authentication.

use database::{Executor, Result, sql};
use model::staff::NO_POSITION;
use model::{AccountId, Json, Permissions, Preferences};

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

/// The id and name of a role.
#[derive(Clone, Debug, model::Row)]
pub struct Role {
    pub id: i64,
    pub name: String,
}

/// The assignable roles, highest position first. The default role has a negative id and is excluded.
pub async fn list(db: impl Executor) -> Result<Vec<Role>> {
    db.query(sql!("SELECT r.id, r.name FROM roles r WHERE r.id > 0 ORDER BY r.position DESC, r.id")).all().await
}

/// The permissions of the default role, which every user has.
pub async fn permissions_of_everybody(db: impl Executor) -> Result<i64> {
    let found = db.query(sql!("SELECT r.permissions FROM roles r WHERE r.id = -99")).scalars().await?;
    Ok(found.into_iter().next().unwrap_or_default())
}

/// The accounts whose role has one of the permission bits `any`, with their preferences. The default role, which every
/// user has, does not count.
pub async fn list_staff(db: impl Executor, any: i64) -> Result<Vec<(AccountId, Json<Preferences>)>> {
    db.query(sql!(
        "SELECT u.account_id, u.preferences FROM users u
         WHERE u.role_id IN (SELECT r.id FROM roles r WHERE r.id > 0 AND (r.permissions & $1) <> 0)"
    ))
    .bind(any)
    .all()
    .await
}
