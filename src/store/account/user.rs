//! Users: the private side of local accounts, such as the e-mail address, password hash, role and preferences.
//!
//! Reached from services and the command line. A local account without a row here was removed, or is being removed.

use database::{Conn, Result, Tx, sql};
use model::actor::User;
use model::{AccountId, Time, boxed, user_columns, user_insert};

/// The user of a local account.
#[boxed]
pub async fn find(db: Conn<'_>, id: AccountId) -> Result<Option<User>> {
    db.query(sql!("SELECT " user_columns!() " FROM users u WHERE u.account_id = $1")).bind(id).optional().await
}

/// The user with this e-mail address, case-insensitively.
#[boxed]
pub async fn find_by_email(db: Conn<'_>, email: &str) -> Result<Option<User>> {
    db.query(sql!("SELECT " user_columns!() " FROM users u WHERE lower(u.email) = $1"))
        .bind(email.to_lowercase())
        .optional()
        .await
}

/// Inserts a user, whose home feed is live.
///
/// # Errors
/// A violation of `users_email` when the address is taken.
#[boxed]
pub async fn insert(tx: &mut Tx, new: &User) -> Result<()> {
    tx.query(sql!(user_insert!("feed_state"))).bind("live").bind_row(new).execute().await?;
    Ok(())
}

/// Sets the password hash.
#[boxed]
pub async fn set_password(tx: &mut Tx, id: AccountId, hash: &str) -> Result<()> {
    tx.query(sql!("UPDATE users SET password_hash = $2 WHERE account_id = $1"))
        .bind(id)
        .bind(hash.to_owned())
        .execute()
        .await?;
    Ok(())
}

/// A user in the list of the command line.
#[derive(Debug, model::Row)]
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
#[boxed]
pub async fn list(db: Conn<'_>, after: AccountId, limit: i64) -> Result<Vec<UserSummary>> {
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

/// Approves a sign-up; false when it is already approved.
#[boxed]
pub async fn approve(tx: &mut Tx, id: AccountId) -> Result<bool> {
    let changed = tx
        .query(sql!("UPDATE users SET approved = TRUE WHERE account_id = $1 AND NOT approved"))
        .bind(id)
        .execute()
        .await?;
    Ok(changed > 0)
}

/// Lets a sign-up wait for approval again.
#[boxed]
pub async fn withdraw_approval(tx: &mut Tx, id: AccountId) -> Result<()> {
    tx.query(sql!("UPDATE users SET approved = FALSE WHERE account_id = $1")).bind(id).execute().await?;
    Ok(())
}

/// Confirms a user's e-mail address; false when it is already confirmed.
#[boxed]
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
#[boxed]
pub async fn set_role(tx: &mut Tx, id: AccountId, role: Option<i64>) -> Result<()> {
    tx.query(sql!("UPDATE users SET role_id = $2 WHERE account_id = $1")).bind(id).bind(role).execute().await?;
    Ok(())
}

/// True when there is any user.
#[boxed]
pub async fn exists(db: Conn<'_>) -> Result<bool> {
    let first: Option<(AccountId,)> = db.query(sql!("SELECT account_id FROM users LIMIT 1")).optional().await?;
    Ok(first.is_some())
}

/// Sets the language of pages and mails; `None`: the browser's language, and the server's language in mails.
#[boxed]
pub async fn set_locale(tx: &mut Tx, id: AccountId, locale: Option<&str>) -> Result<()> {
    tx.query(sql!("UPDATE users SET locale = $2 WHERE account_id = $1"))
        .bind(id)
        .bind(locale.map(str::to_owned))
        .execute()
        .await?;
    Ok(())
}

/// Sets the e-mail address and clears the unconfirmed one; `confirmed_at` is not changed when `None`.
///
/// # Errors
/// A violation of `users_email` when the address is taken.
#[boxed]
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

/// Sets the address that replaces the current one after its confirmation.
#[boxed]
pub async fn set_unconfirmed_email(tx: &mut Tx, id: AccountId, email: &str) -> Result<()> {
    tx.query(sql!("UPDATE users SET unconfirmed_email = $2 WHERE account_id = $1"))
        .bind(id)
        .bind(email.to_owned())
        .execute()
        .await?;
    Ok(())
}
