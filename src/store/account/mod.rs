//! Accounts, local and remote: inserting them, look-ups, locks and counters.
//!
//! A local account has no domain; its private data is in [`user`], the data that its owner edits in [`profile`],
//! searching in [`account_search`], suspending and deleting in [`removal`](super::moderation::removal).

pub(crate) mod account_names;
pub mod account_search;
pub mod archive;
pub mod directory;
pub mod domain_block;
pub mod follow;
pub mod moving;
pub mod profile;
pub mod relation_set;
pub(crate) mod relation_sql;
pub mod relationship;
pub mod role;
pub mod severance;
pub mod sign_up_day;
pub mod suggestion;
pub mod transfer;
pub mod user;
pub mod username;

use crate::role::{AssignedRole, assigned_role_columns};
use database::sql::{Ids, Texts};
use database::{Conn, Result, Tx, sql};
use model::{Account, AccountId, Json, Time, account_columns, account_insert, boxed};

/// An account with the highlighted role shown on its profile.
#[derive(Debug, model::Row)]
pub struct AccountWithRole {
    #[row(flatten)]
    pub account: Account,
    #[row(flatten)]
    pub role: AssignedRole,
}

#[boxed]
pub async fn find(db: Conn<'_>, id: AccountId) -> Result<Option<Account>> {
    db.query(sql!("SELECT " account_columns!() " FROM accounts a WHERE a.id = $1")).bind(id).optional().await
}

/// SQL condition: account `a` is visible to others, that is, not a local account that awaits confirmation or
/// approval.
#[macro_export]
macro_rules! account_is_known {
    () => {
        "NOT EXISTS (SELECT 1 FROM users k WHERE k.account_id = a.id AND (k.confirmed_at IS NULL OR NOT k.approved))"
    };
}

/// The account, unless it is a local account that awaits confirmation or approval.
#[boxed]
pub async fn find_known(db: Conn<'_>, id: AccountId) -> Result<Option<Account>> {
    db.query(sql!("SELECT " account_columns!() " FROM accounts a WHERE a.id = $1 AND " account_is_known!()))
        .bind(id)
        .optional()
        .await
}

/// The accounts that exist among `ids`, in no particular order, without local accounts that await confirmation or
/// approval.
#[boxed]
pub async fn list_known(db: Conn<'_>, ids: &[AccountId]) -> Result<Vec<AccountId>> {
    db.query(sql!("SELECT a.id FROM accounts a WHERE a.id" in("$1") "AND " account_is_known!()))
        .bind(Ids::of(ids.iter().copied()))
        .scalars()
        .await
}

/// The accounts that exist among `ids`, in the order of ids, locked against changes by others until the transaction
/// ends.
///
/// Use cases that change several rows of the relationship between two accounts (follow, block, mute) begin with this.
/// On PostgreSQL, transactions that share an account then run one after the other, and locking in the order of ids
/// prevents deadlocks. `FOR NO KEY UPDATE` still allows inserts of rows that refer to these accounts. SQLite has one
/// writer, so a plain `SELECT` is enough.
#[boxed]
pub async fn lock(tx: &mut Tx, ids: &[AccountId]) -> Result<Vec<Account>> {
    tx.query(sql!(
        sqlite: "SELECT " account_columns!() " FROM accounts a WHERE a.id" in("$1") "ORDER BY a.id";
        postgres: "SELECT " account_columns!() " FROM accounts a WHERE a.id" in("$1") "ORDER BY a.id FOR NO KEY UPDATE"
    ))
    .bind(Ids::of(ids.iter().copied()))
    .all()
    .await
}

/// The accounts that exist among `ids`, in no particular order, each with its highlighted role.
#[boxed]
pub async fn list_with_roles(db: Conn<'_>, ids: &[AccountId]) -> Result<Vec<AccountWithRole>> {
    db.query(sql!(
        "SELECT " account_columns!() ", " assigned_role_columns!() "
         FROM accounts a
         LEFT JOIN users u ON u.account_id = a.id
         LEFT JOIN roles r ON r.id = u.role_id AND r.highlighted
         WHERE a.id" in("$1")
    ))
    .bind(Ids::of(ids.iter().copied()))
    .all()
    .await
}

/// The versions of the accounts that exist among `ids`, the cache keys of their renderings; in no particular order.
#[boxed]
pub async fn versions(db: Conn<'_>, ids: &[AccountId]) -> Result<Vec<(AccountId, i64)>> {
    db.query(sql!("SELECT a.id, a.version FROM accounts a WHERE a.id" in("$1")))
        .bind(Ids::of(ids.iter().copied()))
        .all()
        .await
}

/// An account that a page names as its author.
#[derive(Debug, model::Row)]
pub struct CreatorRow {
    pub id: AccountId,
    pub version: i64,
    pub attribution_domains: model::Json<Vec<String>>,
}

/// The accounts among `ids` that are not suspended, with their attribution domains, in no particular order.
#[boxed]
pub async fn list_creators(db: Conn<'_>, ids: &[AccountId]) -> Result<Vec<CreatorRow>> {
    db.query(sql!(
        "SELECT a.id, a.version, a.attribution_domains FROM accounts a
         WHERE a.id" in("$1") "AND a.suspended_at IS NULL"
    ))
    .bind(Ids::of(ids.iter().copied()))
    .all()
    .await
}

/// The local account with this user name, case-insensitively. The expression for the domain matches the index
/// `accounts_username`; `domain IS NULL` would not use its second column.
#[boxed]
pub async fn find_local(db: Conn<'_>, username: &str) -> Result<Option<Account>> {
    db.query(sql!(
        "SELECT " account_columns!() " FROM accounts a
         WHERE lower(a.username) = $1 AND coalesce(lower(a.domain), '') = ''"
    ))
    .bind(username.to_lowercase())
    .optional()
    .await
}

/// The accounts with one of `handles`: each `username` or `username@domain`, in lower case, in no particular order.
///
/// Handles are split in SQL, by functions that differ between the engines, so that both parts are compared with the
/// expression index `accounts_username`.
#[boxed]
pub async fn list_by_handles(db: Conn<'_>, handles: &[String]) -> Result<Vec<Account>> {
    db.query(sql!(
        sqlite: "SELECT " account_columns!() " FROM json_each($1) h
                 JOIN accounts a ON lower(a.username) = substr(h.value, 1, instr(h.value || '@', '@') - 1)
                                AND coalesce(lower(a.domain), '') = substr(h.value, instr(h.value || '@', '@') + 1)";
        postgres: "SELECT " account_columns!() " FROM unnest($1::text[]) AS h(value)
                   JOIN accounts a ON lower(a.username) = split_part(h.value, '@', 1)
                                  AND coalesce(lower(a.domain), '') = split_part(h.value, '@', 2)"
    ))
    .bind(Texts::of(handles.iter().cloned()))
    .all()
    .await
}

/// Amounts to add to the counters of an account; may be negative.
#[derive(Clone, Copy, Debug, Default)]
pub struct AccountCounts {
    pub statuses: i64,
    pub following: i64,
    pub followers: i64,
    /// When its newest status was posted; `None` does not change the time.
    pub last_status_at: Option<Time>,
}

/// Adds to the counters of an account, which do not go below 0, and increments its version. Updates its search rank
/// when the followers grew tenfold.
#[boxed]
pub async fn add_counts(tx: &mut Tx, id: AccountId, counts: AccountCounts) -> Result<()> {
    let after: Option<(i64,)> = tx
        .query(sql!(
            "UPDATE accounts
         SET statuses_count = CASE WHEN statuses_count + $2 < 0 THEN 0 ELSE statuses_count + $2 END,
             following_count = CASE WHEN following_count + $3 < 0 THEN 0 ELSE following_count + $3 END,
             followers_count = CASE WHEN followers_count + $4 < 0 THEN 0 ELSE followers_count + $4 END,
             last_status_at = coalesce($5, last_status_at), version = version + 1
         WHERE id = $1
         RETURNING followers_count"
        ))
        .bind(id)
        .bind(counts.statuses)
        .bind(counts.following)
        .bind(counts.followers)
        .bind(counts.last_status_at)
        .optional()
        .await?;
    if let Some((followers,)) = after.filter(|_| counts.followers != 0) {
        let (before, after) = (account_names::rank(followers - counts.followers), account_names::rank(followers));
        if before != after {
            account_names::set_rank(tx, id, after).await?;
        }
    }
    Ok(())
}

/// Records the time, week and day of activity of a local account, for the usage stats; week and day are counted from
/// the epoch.
#[boxed]
pub async fn record_activity(tx: &mut Tx, id: AccountId, now: Time, week: i64, day: i64) -> Result<()> {
    tx.query(sql!("UPDATE users SET last_active_at = $2 WHERE account_id = $1")).bind(id).bind(now).execute().await?;
    tx.query(sql!("INSERT INTO user_activity (week, account_id) VALUES ($1, $2) ON CONFLICT DO NOTHING"))
        .bind(week)
        .bind(id)
        .execute()
        .await?;
    tx.query(sql!("INSERT INTO active_days (day, account_id) VALUES ($1, $2) ON CONFLICT DO NOTHING"))
        .bind(day)
        .bind(id)
        .execute()
        .await?;
    Ok(())
}

/// The domain of each account, `None` for a local account.
#[boxed]
pub async fn domains(db: Conn<'_>, ids: &[AccountId]) -> Result<Vec<(AccountId, Option<String>)>> {
    db.query(sql!("SELECT a.id, a.domain FROM accounts a WHERE a.id" in("$1")))
        .bind(Ids::of(ids.iter().copied()))
        .all()
        .await
}

/// Columns of the accounts table that are not in [`Account`]: properties of the ActivityPub actor that only
/// federation reads.
#[derive(Clone, Debug, Default)]
pub struct ActorObject {
    pub also_known_as: Json<Vec<String>>,
    pub inbox_url: Option<String>,
    pub outbox_url: Option<String>,
    pub shared_inbox_url: Option<String>,
    pub followers_url: Option<String>,
    pub following_url: Option<String>,
    pub featured_url: Option<String>,
    /// PEM. A local account gets its key pair later: see [`set_keys`].
    pub public_key: Option<String>,
    /// When it was fetched from its server; `None` for a local account.
    pub fetched_at: Option<Time>,
}

/// Inserts an account, local or remote, with its search names.
///
/// # Errors
/// A violation of the unique index `accounts_username` when name and domain are taken (case-insensitively), of
/// `accounts_uri` when the actor is known.
#[boxed]
pub async fn insert(tx: &mut Tx, account: &Account, actor: ActorObject) -> Result<()> {
    tx.query(sql!(account_insert!(
        "also_known_as",
        "inbox_url",
        "outbox_url",
        "shared_inbox_url",
        "followers_url",
        "following_url",
        "featured_url",
        "public_key",
        "fetched_at"
    )))
    .bind(actor.also_known_as)
    .bind(actor.inbox_url)
    .bind(actor.outbox_url)
    .bind(actor.shared_inbox_url)
    .bind(actor.followers_url)
    .bind(actor.following_url)
    .bind(actor.featured_url)
    .bind(actor.public_key)
    .bind(actor.fetched_at)
    .bind_row(account)
    .execute()
    .await?;
    let rank = account_names::rank(account.followers_count);
    account_names::replace(tx, account.id, &account.username, &account.display_name, rank).await
}

/// Sets the signing keys of a local account without keys; an existing pair is kept. The private key is sealed by the
/// caller.
#[boxed]
pub async fn set_keys(tx: &mut Tx, id: AccountId, public_key: &str, private_key: &str) -> Result<()> {
    tx.query(sql!("UPDATE accounts SET public_key = $2, private_key = $3 WHERE id = $1 AND private_key IS NULL"))
        .bind(id)
        .bind(public_key.to_owned())
        .bind(private_key.to_owned())
        .execute()
        .await?;
    Ok(())
}

/// True when the account is local and has no signing key yet.
#[boxed]
pub async fn lacks_keys(db: Conn<'_>, id: AccountId) -> Result<bool> {
    let row: Option<(i64,)> = db
        .query(sql!("SELECT id FROM accounts WHERE id = $1 AND domain IS NULL AND private_key IS NULL"))
        .bind(id)
        .optional()
        .await?;
    Ok(row.is_some())
}

/// The next `limit` local accounts after `after`, each with its stored private key.
#[boxed]
pub async fn list_private_keys(db: Conn<'_>, after: AccountId, limit: i64) -> Result<Vec<(AccountId, Option<String>)>> {
    db.query(sql!(
        "SELECT a.id, a.private_key FROM users u JOIN accounts a ON a.id = u.account_id
         WHERE u.account_id > $1
         ORDER BY u.account_id
         LIMIT $2"
    ))
    .bind(after)
    .bind(limit)
    .all()
    .await
}

/// Deletes a private key, unless it is no longer `before`; true when there is none afterwards. The public key stays
/// until there is another pair.
#[boxed]
pub async fn forget_private_key(tx: &mut Tx, id: AccountId, before: &str) -> Result<bool> {
    let forgotten = tx
        .query(sql!("UPDATE accounts SET private_key = NULL WHERE id = $1 AND private_key = $2"))
        .bind(id)
        .bind(before.to_owned())
        .execute()
        .await?;
    Ok(forgotten > 0)
}

/// Sets the avatar, and for an animation its still picture; `None` removes it. The caller stores and deletes files.
#[boxed]
pub async fn set_avatar(
    tx: &mut Tx,
    id: AccountId,
    image: Option<String>,
    still: Option<String>,
    now: Time,
) -> Result<()> {
    tx.query(sql!(
        "UPDATE accounts
         SET avatar = $2, avatar_static = $3, avatar_remote_url = NULL, updated_at = $4, version = version + 1,
             avatar_description = CASE WHEN CAST($2 AS TEXT) IS NULL THEN '' ELSE avatar_description END
         WHERE id = $1"
    ))
    .bind(id)
    .bind(image)
    .bind(still)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// Sets the header image, as [`set_avatar`].
#[boxed]
pub async fn set_header(
    tx: &mut Tx,
    id: AccountId,
    image: Option<String>,
    still: Option<String>,
    now: Time,
) -> Result<()> {
    tx.query(sql!(
        "UPDATE accounts
         SET header = $2, header_static = $3, header_remote_url = NULL, updated_at = $4, version = version + 1,
             header_description = CASE WHEN CAST($2 AS TEXT) IS NULL THEN '' ELSE header_description END
         WHERE id = $1"
    ))
    .bind(id)
    .bind(image)
    .bind(still)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// Increments the version of an account, which invalidates its cached renderings: data outside its row that is
/// rendered with it has changed.
#[boxed]
pub async fn bump(tx: &mut Tx, id: AccountId) -> Result<()> {
    tx.query(sql!("UPDATE accounts SET version = version + 1 WHERE id = $1")).bind(id).execute().await?;
    Ok(())
}

/// As [`bump`], for several accounts.
#[boxed]
pub async fn bump_all(tx: &mut Tx, ids: &[AccountId]) -> Result<()> {
    tx.query(sql!("UPDATE accounts SET version = version + 1 WHERE id" in("$1")))
        .bind(Ids::of(ids.iter().copied()))
        .execute()
        .await?;
    Ok(())
}

/// The oldest confirmed and approved local account.
#[boxed]
pub async fn find_oldest_local(db: Conn<'_>) -> Result<Option<Account>> {
    db.query(sql!(
        "SELECT " account_columns!() " FROM accounts a
         WHERE a.id = (SELECT MIN(u.account_id) FROM users u WHERE u.approved AND u.confirmed_at IS NOT NULL)"
    ))
    .optional()
    .await
}
