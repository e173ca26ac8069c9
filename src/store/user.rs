//! Users: the private side of local accounts, such as the e-mail address, password hash, role and preferences.
//!
//! Reached from services and the command line. A local account without a row here was removed, or is about to be.

use super::{Executor, Result, Tx};
use crate::sql;
use model::actor::User;
use model::{AccountId, AppId, Json, Preferences, Time};

/// The columns of [`User`], of a table with the alias `u`.
#[macro_export]
macro_rules! user_columns {
    () => {
        "u.account_id, u.email, u.unconfirmed_email, u.password_hash, u.confirmed_at, u.approved, u.disabled, u.role_id, \
         u.locale, u.time_zone, u.sign_up_app_id, u.sign_up_reason, u.preferences, u.last_active_at, u.created_at"
    };
}

/// The user of a local account.
pub async fn find(db: impl Executor, id: AccountId) -> Result<Option<User>> {
    db.query(sql!("SELECT " user_columns!() " FROM users u WHERE u.account_id = $1")).bind(id).optional().await
}

/// The user with this e-mail address, case-insensitively.
pub async fn find_by_email(db: impl Executor, email: &str) -> Result<Option<User>> {
    db.query(sql!("SELECT " user_columns!() " FROM users u WHERE lower(u.email) = $1"))
        .bind(email.to_lowercase())
        .optional()
        .await
}

/// A new user.
#[derive(Debug)]
#[expect(missing_docs, reason = "columns of the table users")]
pub struct NewUser {
    pub account_id: AccountId,
    pub email: String,
    pub password_hash: Option<String>,
    pub confirmed_at: Option<Time>,
    pub approved: bool,
    pub role_id: Option<i64>,
    pub locale: Option<String>,
    pub time_zone: Option<String>,
    pub sign_up_app_id: Option<AppId>,
    pub sign_up_reason: Option<String>,
    pub now: Time,
}

/// Inserts a user with default preferences.
///
/// # Errors
/// A violation of `users_email` when the address is taken.
pub async fn insert(tx: &mut Tx, new: NewUser) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO users (account_id, email, password_hash, confirmed_at, approved, disabled, role_id, locale, time_zone,
                            sign_up_app_id, sign_up_reason, preferences, feed_state, created_at)
         VALUES ($1, $2, $3, $4, $5, FALSE, $6, $7, $8, $9, $10, $11, 'live', $12)"
    ))
    .bind(new.account_id)
    .bind(new.email)
    .bind(new.password_hash)
    .bind(new.confirmed_at)
    .bind(new.approved)
    .bind(new.role_id)
    .bind(new.locale)
    .bind(new.time_zone)
    .bind(new.sign_up_app_id)
    .bind(new.sign_up_reason)
    .bind(Json(Preferences::default()))
    .bind(new.now)
    .execute()
    .await?;
    Ok(())
}

/// Sets the password hash.
pub async fn set_password(tx: &mut Tx, id: AccountId, hash: &str) -> Result<()> {
    tx.query(sql!("UPDATE users SET password_hash = $2 WHERE account_id = $1"))
        .bind(id)
        .bind(hash.to_owned())
        .execute()
        .await?;
    Ok(())
}

/// A user as the command line lists it.
#[derive(Debug, model::Row)]
#[expect(missing_docs, reason = "columns of the tables joined")]
pub struct UserSummary {
    pub id: AccountId,
    pub username: String,
    pub email: String,
    pub role: Option<String>,
    pub confirmed_at: Option<Time>,
    pub approved: bool,
    pub disabled: bool,
    pub suspended_at: Option<Time>,
    pub last_active_at: Option<Time>,
    pub created_at: Time,
}

/// Up to `limit` users with ids above `after`, oldest first.
pub async fn list(db: impl Executor, after: AccountId, limit: i64) -> Result<Vec<UserSummary>> {
    db.query(sql!(
        "SELECT a.id, a.username, u.email, r.name AS role, u.confirmed_at, u.approved, u.disabled, a.suspended_at,
                u.last_active_at, u.created_at
         FROM users u
         JOIN accounts a ON a.id = u.account_id
         LEFT JOIN roles r ON r.id = u.role_id
         WHERE u.account_id > $1
         ORDER BY u.account_id
         LIMIT $2"
    ))
    .bind(after)
    .bind(limit)
    .all()
    .await
}

/// Approves a sign-up; false when it is approved already.
pub async fn approve(tx: &mut Tx, id: AccountId) -> Result<bool> {
    let changed = tx
        .query(sql!("UPDATE users SET approved = TRUE WHERE account_id = $1 AND NOT approved"))
        .bind(id)
        .execute()
        .await?;
    Ok(changed > 0)
}

/// Confirms a user's e-mail address; false when it is confirmed already.
pub async fn confirm(tx: &mut Tx, id: AccountId, now: Time) -> Result<bool> {
    let changed = tx
        .query(sql!("UPDATE users SET confirmed_at = $2 WHERE account_id = $1 AND confirmed_at IS NULL"))
        .bind(id)
        .bind(now)
        .execute()
        .await?;
    Ok(changed > 0)
}

/// Sets the role of a user; `None` removes it.
pub async fn set_role(tx: &mut Tx, id: AccountId, role: Option<i64>) -> Result<()> {
    tx.query(sql!("UPDATE users SET role_id = $2 WHERE account_id = $1")).bind(id).bind(role).execute().await?;
    Ok(())
}

/// True when there is any user.
pub async fn exists(db: impl Executor) -> Result<bool> {
    let first: Option<(AccountId,)> = db.query(sql!("SELECT account_id FROM users LIMIT 1")).optional().await?;
    Ok(first.is_some())
}

/// Sets the e-mail address and clears the one that waits for confirmation; `confirmed_at` stays as it is when `None`.
///
/// # Errors
/// A violation of `users_email` when the address is taken.
pub async fn set_email(tx: &mut Tx, id: AccountId, email: &str, confirmed_at: Option<Time>) -> Result<()> {
    tx.query(sql!(
        "UPDATE users SET email = $2, unconfirmed_email = NULL, confirmed_at = coalesce($3, confirmed_at)
         WHERE account_id = $1"
    ))
    .bind(id)
    .bind(email.to_owned())
    .bind(confirmed_at)
    .execute()
    .await?;
    Ok(())
}

/// Sets the address that replaces the confirmed one when it is confirmed itself.
pub async fn set_unconfirmed_email(tx: &mut Tx, id: AccountId, email: &str) -> Result<()> {
    tx.query(sql!("UPDATE users SET unconfirmed_email = $2 WHERE account_id = $1"))
        .bind(id)
        .bind(email.to_owned())
        .execute()
        .await?;
    Ok(())
}
