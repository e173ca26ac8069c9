//! Which permissions of plugins a member of staff may grant: only those that their own role allows.

use context::error::{Error, Result};
use model::{Permissions, Staff};

/// What staff must be allowed to grant each of these, an entry of the manifest or the part before its colon. The others
/// need no more than the administration of plugins.
const NEEDED: &[(&str, i64)] = &[
    // Data and acts of every account.
    ("core:read-as-any", Permissions::ADMINISTRATOR),
    ("core:read-all", Permissions::ADMINISTRATOR),
    ("core-write:as-any", Permissions::ADMINISTRATOR),
    ("core-views:statuses:private", Permissions::ADMINISTRATOR),
    ("core-views:tokens", Permissions::ADMINISTRATOR),
    ("federation", Permissions::MANAGE_FEDERATION),
];

/// Checks that `staff` may grant all of `permissions`.
///
/// # Errors
/// [`Error::Forbidden`] naming the first one that they may not grant, and what they lack.
pub(crate) fn check<'a>(staff: &Staff, permissions: impl Iterator<Item = &'a String>) -> Result<()> {
    for permission in permissions {
        let key = permission.split(':').next().unwrap_or_default();
        let needed = NEEDED.iter().find(|(name, _)| name == permission || *name == key);
        if let Some((_, bit)) = needed.filter(|(_, bit)| !staff.permissions.has(*bit)) {
            let lacked = Permissions::names(*bit).join(", ");
            return Err(Error::forbidden(format!(
                "Granting {permission} to a plugin requires the permission {lacked}"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permission_is_granted_by_staff_who_may_do_the_same() {
        let check = |bits: i64, permission: &str| {
            let staff = Staff { permissions: Permissions(bits), ..Staff::operator() };
            check(&staff, std::iter::once(&permission.to_owned())).is_ok()
        };
        let plugins = Permissions::MANAGE_PLUGINS;
        assert!(check(plugins, "core-views:statuses") && check(plugins, "queue") && check(plugins, "core:read"));
        for named in ["core:read-all", "core-write:as-any", "core-views:statuses:private", "federation:activities"] {
            assert!(!check(plugins, named) && check(Permissions::ALL, named), "{named}");
        }
        assert!(check(plugins | Permissions::MANAGE_FEDERATION, "federation:activities"));
    }
}
