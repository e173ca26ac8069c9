//! User names of local accounts: the present one, and those it had before, which stay reserved.
//!
//! Reached from `service::access::owner`, which finds accounts by either, and from `service::username`, which changes them.

use crate::account::account_names;
use database::sql::Texts;
use database::{Conn, Result, Tx, sql};
use model::{Account, AccountId, Time, account_columns, boxed};

/// The local account that has this user name or had it before, case-insensitively.
#[boxed]
pub async fn find_account(db: Conn<'_>, username: &str) -> Result<Option<Account>> {
    db.query(sql!(
        "SELECT " account_columns!() " FROM accounts a
         WHERE a.domain IS NULL AND a.id = coalesce(
             (SELECT b.id FROM accounts b WHERE lower(b.username) = $1 AND coalesce(lower(b.domain), '') = ''),
             (SELECT f.account_id FROM former_usernames f WHERE f.username = $1))"
    ))
    .bind(username.to_lowercase())
    .optional()
    .await
}

/// The URIs of the local accounts that have these user names or had them before, each with the name in lower case.
/// `usernames`: in lower case.
#[boxed]
pub async fn list_uris(db: Conn<'_>, usernames: &[String]) -> Result<Vec<(String, String)>> {
    db.query(sql!(
        "SELECT lower(a.username) AS username, a.uri FROM accounts a
         WHERE lower(a.username)" in("$1") "AND coalesce(lower(a.domain), '') = ''
         UNION ALL
         SELECT f.username, a.uri FROM former_usernames f JOIN accounts a ON a.id = f.account_id
         WHERE f.username" in("$1")
    ))
    .bind(Texts::of(usernames.iter().cloned()))
    .all()
    .await
}

/// True when an account had this user name before. Read after a name was claimed, since a concurrent change of name
/// releases and reserves it in one transaction.
#[boxed]
pub async fn is_former(db: Conn<'_>, username: &str) -> Result<bool> {
    let found: i64 = db
        .query(sql!("SELECT COUNT(*) AS names FROM former_usernames f WHERE f.username = $1"))
        .bind(username.to_lowercase())
        .scalar()
        .await?;
    Ok(found > 0)
}

/// When the user name of an account last changed; `None` when it never did.
#[boxed]
pub async fn last_change(db: Conn<'_>, account: AccountId) -> Result<Option<Time>> {
    db.query(sql!("SELECT MAX(f.replaced_at) AS replaced_at FROM former_usernames f WHERE f.account_id = $1"))
        .bind(account)
        .scalar()
        .await
}

/// The user names that an account had before, in lower case, the latest first.
#[boxed]
pub async fn list_former(db: Conn<'_>, account: AccountId) -> Result<Vec<String>> {
    db.query(sql!(
        "SELECT f.username FROM former_usernames f WHERE f.account_id = $1 ORDER BY f.replaced_at DESC, f.username"
    ))
    .bind(account)
    .scalars()
    .await
}

/// Gives `account` another user name and page, and reserves its present name for it. A name that it had before is its
/// present one again.
///
/// # Errors
/// A violation of uniqueness when another account has the name.
#[boxed]
pub async fn rename(tx: &mut Tx, account: &Account, username: &str, url: &str, now: Time) -> Result<()> {
    tx.query(sql!("UPDATE accounts SET username = $2, url = $3, updated_at = $4, version = version + 1 WHERE id = $1"))
        .bind(account.id)
        .bind(username.to_owned())
        .bind(url.to_owned())
        .bind(now)
        .execute()
        .await?;
    if !account.username.eq_ignore_ascii_case(username) {
        tx.query(sql!("DELETE FROM former_usernames WHERE username = $1 AND account_id = $2"))
            .bind(username.to_lowercase())
            .bind(account.id)
            .execute()
            .await?;
        tx.query(sql!("INSERT INTO former_usernames (username, account_id, replaced_at) VALUES ($1, $2, $3)"))
            .bind(account.username.to_lowercase())
            .bind(account.id)
            .bind(now)
            .execute()
            .await?;
    }
    let rank = account_names::rank(account.followers_count);
    account_names::replace(tx, account.id, username, &account.display_name, rank).await
}
