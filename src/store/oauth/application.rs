//! Registered OAuth applications, and the tokens that they hold for an account. Tokens themselves are in
//! [`oauth`](crate::oauth).

use database::{Conn, Engine, Result, Tx, sql};
use model::{AccountId, AppId, Application, Time, application_columns, application_insert, boxed};

#[boxed]
pub async fn find(db: Conn<'_>, id: AppId) -> Result<Option<Application>> {
    db.query(sql!("SELECT " application_columns!() " FROM oauth_apps p WHERE p.id = $1")).bind(id).optional().await
}

/// The application with this client id.
#[boxed]
pub async fn find_by_client_id(db: Conn<'_>, client_id: &str) -> Result<Option<Application>> {
    db.query(sql!("SELECT " application_columns!() " FROM oauth_apps p WHERE p.client_id = $1"))
        .bind(client_id.to_owned())
        .optional()
        .await
}

/// Locks the application until the transaction ends: concurrent calls for the same application wait. Does nothing on
/// SQLite, which has one writer.
#[boxed]
pub async fn lock(tx: &mut Tx, id: AppId) -> Result<()> {
    if tx.engine() == Engine::Sqlite {
        return Ok(());
    }
    let _: Option<(AppId,)> = tx
        .query(sql!(
            sqlite: "SELECT p.id FROM oauth_apps p WHERE p.id = $1";
            postgres: "SELECT p.id FROM oauth_apps p WHERE p.id = $1 FOR NO KEY UPDATE"
        ))
        .bind(id)
        .optional()
        .await?;
    Ok(())
}

#[boxed]
pub async fn insert(tx: &mut Tx, new: &Application) -> Result<()> {
    tx.query(sql!(application_insert!())).bind_row(new).execute().await?;
    Ok(())
}

/// A token that an application holds for an account.
#[derive(Debug, model::Row)]
pub struct HeldRow {
    pub id: AppId,
    pub name: String,
    pub website: Option<String>,
    pub scopes: String,
    pub created_at: Time,
    pub last_used_at: Option<Time>,
}

/// The tokens that applications hold for `account` and that are not revoked, tokens of the newest application first.
#[boxed]
pub async fn list_held(db: Conn<'_>, account: AccountId) -> Result<Vec<HeldRow>> {
    db.query(sql!(
        "SELECT p.id, p.name, p.website, t.scopes, t.created_at, t.last_used_at
         FROM oauth_tokens t
         JOIN oauth_apps p ON p.id = t.app_id
         WHERE t.account_id = $1 AND t.revoked_at IS NULL
         ORDER BY p.id DESC, t.id"
    ))
    .bind(account)
    .all()
    .await
}
