//! Roles: what staff may do. Permission bits: contract rules, section 2.

use super::{Executor, Result};
use crate::sql;

/// The id and name of a role.
#[derive(Clone, Debug, model::Row)]
#[expect(missing_docs, reason = "columns of the table roles")]
pub struct Role {
    pub id: i64,
    pub name: String,
}

/// The roles that can be assigned, highest position first. The default role has a negative id and is left out.
pub async fn list(db: impl Executor) -> Result<Vec<Role>> {
    db.query(sql!("SELECT r.id, r.name FROM roles r WHERE r.id > 0 ORDER BY r.position DESC, r.id")).all().await
}
