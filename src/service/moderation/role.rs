//! Roles: their names, positions and permissions, and who has them.
//!
//! Reached from `/api/v1/admin/roles`, `PUT /api/v1/admin/accounts/{id}/role`, `rookery role` and `rookery user
//! set-role`. Nobody creates, changes, deletes, gives or takes a role at or above their own position, or gives a
//! permission that they do not have; so nobody changes the permissions of their own role.
//!
//! Spec: docs/contract/admin.csv, docs/contract/extensions.md#13-admin-api

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::account::Managed;
use crate::audit::{self, Entry, Target};
use crate::ownership;
use context::Cx;
use context::error::{Error, OnUnique, Result};
use database::Tx;
use model::params::required_to_create;
use model::staff::OWNER_ROLE;
use model::{AccountId, Permissions, RowId, Staff};

pub use store::role::Role;

/// Longest name, in characters.
const NAME_MAX: usize = 60;
/// The positions below the owner's.
const POSITIONS: std::ops::RangeInclusive<i64> = 0..=999;
/// Most roles of a server.
const ROLES_MAX: usize = 100;

/// A role as sent; `None` leaves a value as it is, or takes the default of a new one.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct RoleParams {
    /// At most 60 characters.
    #[schemars(transform = required_to_create)]
    pub name: Option<String>,
    /// As `#ff0000`; empty, the default, for none.
    pub color: Option<String>,
    /// 0 to 999, below the position of the caller; the default is 0.
    pub position: Option<i64>,
    /// The sum of bits, as a decimal number, or the names of permissions; the default is none.
    #[serde(deserialize_with = "read_permissions")]
    #[schemars(with = "Option<Vec<String>>")]
    pub permissions: Option<i64>,
    /// Whether profiles show the role; the default is false.
    pub highlighted: Option<bool>,
}

/// Permissions as one decimal number, or as a list of names; absent and null are `None`.
///
/// # Errors
/// For a number that is negative or has unknown bits, and for an unknown name.
fn read_permissions<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    let values = match Value::deserialize(deserializer)? {
        Value::Null => return Ok(None),
        Value::Array(values) => values,
        Value::Object(map) => map.into_iter().map(|(_, value)| value).collect(),
        value => vec![value],
    };
    let mut bits = 0;
    for value in values {
        let text = match &value {
            Value::String(text) => text.trim().to_owned(),
            value => value.to_string(),
        };
        if !text.is_empty() {
            bits |= permission_bits(&text).map_err(serde::de::Error::custom)?;
        }
    }
    Ok(Some(bits))
}

/// The bits of one permission by its name, or of several as a decimal number.
///
/// # Errors
/// A sentence that says what is wrong.
pub fn permission_bits(text: &str) -> std::result::Result<i64, String> {
    if let Some(bit) = Permissions::named(text) {
        return Ok(bit);
    }
    match text.parse::<i64>() {
        Ok(bits) if bits & !Permissions::ALL == 0 => Ok(bits),
        Ok(_) => Err(format!("{text} has bits that are no permission; all together are {}", Permissions::ALL)),
        Err(_) => {
            let names = Permissions::names(Permissions::ALL).join(", ");
            Err(format!("there is no permission {text:?}; there are {names}, or the sum of their bits"))
        }
    }
}

/// All roles, the highest position first.
#[model::use_case]
pub async fn list(cx: &Cx) -> Result<Vec<Role>> {
    Ok(store::role::list(&cx.db).await?)
}

/// One role.
///
/// # Errors
/// [`Error::NotFound`].
#[model::use_case]
pub async fn find(cx: &Cx, id: RowId) -> Result<Role> {
    store::role::list(&cx.db).await?.into_iter().find(|role| role.id == id).ok_or(Error::NotFound)
}

/// The assignable role named `name`, ignoring case.
///
/// # Errors
/// [`Error::Invalid`] listing the existing roles.
#[model::use_case]
pub async fn find_by_name(cx: &Cx, name: &str) -> Result<Role> {
    let mut roles = store::role::list(&cx.db).await?;
    roles.retain(|role| !role.is_default());
    if let Some(found) = roles.iter().position(|role| role.name.to_lowercase() == name.to_lowercase()) {
        return Ok(roles.swap_remove(found));
    }
    let names: Vec<String> = roles.into_iter().map(|role| role.name).collect();
    Err(Error::invalid(format!("there is no role {name:?}; there are {} and none", names.join(", "))))
}

/// How many users have the role.
#[model::use_case]
pub async fn count_holders(cx: &Cx, id: RowId) -> Result<i64> {
    Ok(store::role::count_holders(&cx.db, id).await?)
}

/// Creates a role.
///
/// # Errors
/// [`Error::Invalid`] for values that are missing, out of bounds or taken, and when there are too many roles;
/// [`Error::Forbidden`] for a position that `staff` does not outrank and for permissions that they do not have.
#[model::use_case]
pub async fn create(cx: &Cx, staff: &Staff, params: RoleParams) -> Result<Role> {
    let mut tx = cx.db.begin().await?;
    let roles = store::role::lock_all(&mut tx).await?;
    if roles.len() >= ROLES_MAX {
        return Err(Error::invalid(format!("a server has at most {ROLES_MAX} roles")));
    }
    let mut role = Role {
        id: cx.ids.next(),
        name: String::new(),
        color: String::new(),
        position: *POSITIONS.start(),
        permissions: 0,
        highlighted: false,
    };
    let params = RoleParams { name: Some(params.name.unwrap_or_default()), ..params };
    apply(&mut role, staff, &roles, params)?;
    require_above(staff, &role)?;
    store::role::insert(&mut tx, &role).await.on_unique(|| taken(&role.name))?;
    record(cx, &mut tx, staff, "role.create", &role).await?;
    publish(cx, tx).await?;
    Ok(role)
}

/// Changes a role; its holders have the changed permissions at once.
///
/// The owner's role keeps its permissions and its position, and the default role has only the permission
/// `invite_users`, or none.
///
/// # Errors
/// [`Error::NotFound`]; otherwise as [`create`].
#[model::use_case]
pub async fn update(cx: &Cx, staff: &Staff, id: RowId, params: RoleParams) -> Result<Role> {
    let mut tx = cx.db.begin().await?;
    let roles = store::role::lock_all(&mut tx).await?;
    let before = roles.iter().find(|role| role.id == id).ok_or(Error::NotFound)?;
    require_above(staff, before)?;
    let mut role = before.clone();
    apply(&mut role, staff, &roles, params)?;
    require_above(staff, &role)?;
    if role == *before {
        return Ok(role);
    }
    store::role::update(&mut tx, &role).await.on_unique(|| taken(&role.name))?;
    store::role::bump_holders(&mut tx, id).await?;
    record(cx, &mut tx, staff, "role.update", &role).await?;
    publish(cx, tx).await?;
    Ok(role)
}

/// Deletes a role; its holders have none then.
///
/// # Errors
/// [`Error::NotFound`], and [`Error::Forbidden`] for the default role, the owner's role and a role that `staff` does not
/// outrank.
#[model::use_case]
pub async fn delete(cx: &Cx, staff: &Staff, id: RowId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let roles = store::role::lock_all(&mut tx).await?;
    let role = roles.iter().find(|role| role.id == id).ok_or(Error::NotFound)?;
    require_deletable(staff, role)?;
    store::role::bump_holders(&mut tx, id).await?;
    store::role::delete(&mut tx, id).await?;
    record(cx, &mut tx, staff, "role.delete", role).await?;
    publish(cx, tx).await
}

/// Checks that `staff` may delete the role.
///
/// # Errors
/// As [`delete`].
pub fn require_deletable(staff: &Staff, role: &Role) -> Result<()> {
    if role.is_default() {
        return Err(Error::forbidden("the default role, which everyone has, cannot be deleted"));
    }
    if role.is_owner() {
        return Err(Error::forbidden("the role of the owners cannot be deleted"));
    }
    require_above(staff, role)
}

/// Gives the role `role` to the account `id`, in place of the one that it has; `None` only takes that.
///
/// `force`: also from the last owner, which only an operator can do.
///
/// # Errors
/// [`Error::NotFound`] for a missing account; [`Error::Invalid`] for a missing role and for the default role, which
/// everyone has; [`Error::Forbidden`] for the caller's own account, for an account or a role that `staff` does not outrank,
/// for permissions that they do not have, for an account without a user, and for the last owner.
#[model::use_case]
pub async fn assign(cx: &Cx, staff: &Staff, id: AccountId, role: Option<RowId>, force: bool) -> Result<()> {
    if staff.account == Some(id) {
        return Err(Error::forbidden("nobody changes their own role"));
    }
    let mut tx = cx.db.begin().await?;
    let roles = store::role::lock_all(&mut tx).await?;
    let found = Managed::lock(&mut tx, staff, id).await?;
    found.require_user()?;
    let role = role.map(|wanted| assignable(staff, &roles, wanted)).transpose()?;
    let (before, after) = (found.managed.role.id, role.map(|role| i64::from(role.id)));
    if before == after {
        return Ok(());
    }
    if before == Some(OWNER_ROLE) && !force {
        ownership::require_other(&mut tx, &found.account).await?;
    }
    store::user::set_role(&mut tx, id, after).await?;
    // The role is part of the rendered profile.
    store::account::bump(&mut tx, id).await?;
    let details = json!({ "from": found.managed.role.name, "to": role.map(|role| &role.name) });
    audit::record(cx, &mut tx, staff, Entry::new("account.role", Target::account(&found.account)).with(details))
        .await?;
    Ok(tx.commit().await?)
}

fn assignable<'a>(staff: &Staff, roles: &'a [Role], id: RowId) -> Result<&'a Role> {
    let role = roles.iter().find(|role| role.id == id);
    let role = role.ok_or_else(|| Error::invalid(format!("role_id: there is no role {id}")))?;
    if role.is_default() {
        return Err(Error::invalid("role_id: everyone has the default role; send a blank role_id to remove a role"));
    }
    require_above(staff, role)?;
    require_own(staff, role.permissions)?;
    Ok(role)
}

/// Puts the parameters into `role`.
fn apply(role: &mut Role, staff: &Staff, roles: &[Role], params: RoleParams) -> Result<()> {
    let before = role.clone();
    if let Some(name) = params.name {
        role.name = name.trim().to_owned();
    }
    if let Some(color) = params.color {
        role.color = read_color(&color)?;
    }
    role.position = params.position.unwrap_or(role.position);
    role.permissions = params.permissions.unwrap_or(role.permissions);
    role.highlighted = params.highlighted.unwrap_or(role.highlighted);
    require_own(staff, role.permissions & !before.permissions)?;
    if role.is_default() {
        return check_default(role, &before);
    }
    if role.is_owner() && (role.permissions, role.position) != (before.permissions, before.position) {
        return Err(Error::forbidden("the role of the owners keeps its permissions and its position"));
    }
    if !role.is_owner() && !POSITIONS.contains(&role.position) {
        let (first, last) = (POSITIONS.start(), POSITIONS.end());
        return Err(Error::invalid(format!("position: must be {first} to {last}")));
    }
    check_name(role, roles)
}

/// The default role has permissions only.
fn check_default(role: &Role, before: &Role) -> Result<()> {
    if *role != (Role { permissions: role.permissions, ..before.clone() }) {
        return Err(Error::invalid("the default role has no name, color, position and highlight: only permissions"));
    }
    if role.permissions & !Permissions::INVITE_USERS != 0 {
        return Err(Error::invalid("permissions: the default role may only have invite_users"));
    }
    Ok(())
}

fn check_name(role: &Role, roles: &[Role]) -> Result<()> {
    let name = role.name.to_lowercase();
    if name.is_empty() {
        return Err(Error::invalid("name: can't be blank"));
    }
    if role.name.chars().count() > NAME_MAX {
        return Err(Error::invalid(format!("name: is too long (maximum is {NAME_MAX} characters)")));
    }
    if role.name.chars().any(char::is_control) {
        return Err(Error::invalid("name: must not have control characters"));
    }
    if name == "none" {
        return Err(Error::invalid("name: \"none\" stands for no role: choose another"));
    }
    if roles.iter().any(|other| other.id != role.id && other.name.to_lowercase() == name) {
        return Err(taken(&role.name));
    }
    Ok(())
}

fn taken(name: &str) -> Error {
    Error::invalid(format!("name: there is already a role {name:?}"))
}

fn read_color(text: &str) -> Result<String> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.strip_prefix('#').unwrap_or_default();
    if text.is_empty() || (digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())) {
        return Ok(text);
    }
    Err(Error::invalid("color: must be empty, or as #ff0000"))
}

fn require_above(staff: &Staff, role: &Role) -> Result<()> {
    if staff.outranks(role.position) {
        return Ok(());
    }
    Err(Error::forbidden(format!(
        "the position {} is not below yours, {}: you may not do this with such a role",
        role.position, staff.position
    )))
}

/// Checks that `staff` has all permissions among `bits`.
fn require_own(staff: &Staff, bits: i64) -> Result<()> {
    let lacking = bits & !staff.permissions.0;
    if lacking == 0 {
        return Ok(());
    }
    let names = Permissions::names(lacking).join(", ");
    Err(Error::forbidden(format!("you may not give permissions that you do not have: {names}")))
}

async fn record(cx: &Cx, tx: &mut Tx, staff: &Staff, action: &'static str, role: &Role) -> Result<()> {
    let details = json!({
        "position": role.position, "permissions": Permissions::names(role.permissions), "color": role.color,
        "highlighted": role.highlighted,
    });
    let name = if role.is_default() { "everyone" } else { &role.name };
    audit::record(cx, tx, staff, Entry::new(action, Target::new("role", role.id, name)).with(details)).await
}

/// Commits a change of the roles, and applies it in this process: documents about the server depend on them.
async fn publish(cx: &Cx, mut tx: Tx) -> Result<()> {
    store::settings::bump_generation(&mut tx, cx.clock.now()).await?;
    tx.commit().await?;
    cx.reload().await?;
    Ok(())
}
