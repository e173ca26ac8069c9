//! Users: the private side of local accounts.

use super::{Executor, Result, Tx};
use crate::model::actor::User;
use crate::model::{AccountId, AppId, Json, Preferences, Time};
use crate::sql;

/// The columns of [`User`], of a table called `u`.
#[macro_export]
macro_rules! user_columns {
    () => {
        "u.account_id, u.email, u.unconfirmed_email, u.password_hash, u.confirmed_at, u.approved, u.disabled, u.role_id, \
         u.locale, u.time_zone, u.sign_up_app_id, u.sign_up_reason, u.preferences, u.last_active_at, u.created_at"
    };
}

/// The user of a local account.
///
/// # Errors
/// When the database does.
pub async fn find(db: impl Executor, id: AccountId) -> Result<Option<User>> {
    db.query(sql!("SELECT " user_columns!() " FROM users u WHERE u.account_id = $1")).bind(id).optional().await
}

/// The user with this e-mail address, in any case.
///
/// # Errors
/// When the database does.
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

/// Inserts a user.
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

/// Sets the password's hash.
///
/// # Errors
/// When the database does.
pub async fn set_password(tx: &mut Tx, id: AccountId, hash: &str) -> Result<()> {
    tx.query(sql!("UPDATE users SET password_hash = $2 WHERE account_id = $1"))
        .bind(id)
        .bind(hash.to_owned())
        .execute()
        .await?;
    Ok(())
}
