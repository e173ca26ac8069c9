//! Roles: what staff may do.

use super::{Executor, Result};
use crate::sql;

/// A role's number and name.
#[derive(Clone, Debug, sqlx::FromRow)]
#[expect(missing_docs, reason = "columns of the table roles")]
pub struct Role {
    pub id: i64,
    pub name: String,
}

/// The roles that someone can be given, the most powerful first.
///
/// # Errors
/// When the database does.
pub async fn list(db: impl Executor) -> Result<Vec<Role>> {
    db.query(sql!("SELECT r.id, r.name FROM roles r WHERE r.id > 0 ORDER BY r.position DESC, r.id")).all().await
}
