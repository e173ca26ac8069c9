//! The private keys with which local accounts sign. They are encrypted in the database under the server's secret key,
//! so that a copy of the database does not allow anyone to act as an account of this server.
//!
//! Reached from the jobs that generate keys, from `rookery user renew-keys` and from `rookery doctor`. A key sealed
//! for one account cannot be opened for another, and none can be opened after the secret key changed. Restoring the
//! previous secret key makes them usable again; otherwise [`renew_lost`] queues new key pairs. Keys are renewed only
//! on request, since a server started with a wrong secret key by mistake would lose the keys of all accounts.

use context::error::Result;
use context::queue::{self, Failure, GenerateKey};
use context::{Cx, job};
use crypto::{Keys, Secret, key_pair};
use database::{Conn, Tx};
use model::AccountId;

/// The purpose under which signing keys are sealed.
const PURPOSE: &str = "signing-keys";

/// Accounts checked in one transaction.
const BATCH: i64 = 200;

/// Encrypts the private key of an account for storage.
///
/// # Errors
/// [`Error::Internal`](context::Error::Internal), which is a bug.
pub fn seal(cx: &Cx, account: AccountId, private_key: &Secret) -> Result<String> {
    Ok(cx.keys.seal(PURPOSE, &account.to_string(), private_key)?)
}

/// Decrypts a stored private key; `None` when it was sealed with another secret key than the current one.
#[must_use]
pub fn open(cx: &Cx, account: AccountId, stored: &str) -> Option<Secret> {
    cx.keys.open(PURPOSE, &account.to_string(), stored)
}

/// True when a stored private key was sealed with another secret key than the one of `keys`.
fn is_lost(keys: &Keys, account: AccountId, stored: &str) -> bool {
    keys.open(PURPOSE, &account.to_string(), stored).is_none()
}

/// How many of the `limit` oldest local accounts have a private key that `keys` cannot open.
#[model::use_case]
pub async fn count_lost(db: Conn<'_>, keys: &Keys, limit: i64) -> Result<usize> {
    let stored = store::account::list_private_keys(db, AccountId::from(0), limit).await?;
    let lost = |(account, stored): &(AccountId, Option<String>)| {
        stored.as_ref().is_some_and(|stored| is_lost(keys, *account, stored))
    };
    Ok(stored.iter().filter(|row| lost(row)).count())
}

/// Queues new key pairs for the accounts among the next local accounts after `after` whose private keys cannot be
/// opened. Other servers notice when they fetch the public key again. Returns the last account checked, `None` at the
/// end, and the number of renewed key pairs.
#[model::use_case]
pub async fn renew_lost(cx: &Cx, tx: &mut Tx, after: AccountId) -> Result<(Option<AccountId>, u64)> {
    let accounts = store::account::list_private_keys(&mut *tx, after, BATCH).await?;
    let last = accounts.last().map(|(account, _)| *account);
    let mut renewed = 0;
    for (account, stored) in accounts {
        let Some(stored) = stored.filter(|stored| is_lost(&cx.keys, account, stored)) else { continue };
        if store::account::forget_private_key(tx, account, &stored).await? {
            queue::enqueue(cx, tx, &GenerateKey { account }).await?;
            renewed += 1;
        }
    }
    Ok((last, renewed))
}

/// A job rather than part of the sign-up, since it takes some 100 ms of CPU time and a thousand accounts may be
/// created together.
#[model::use_case]
#[job]
async fn generate_key(cx: &Cx, job: GenerateKey) -> Result<(), Failure> {
    Ok(make(cx, job.account).await?)
}

/// Makes the key pair of a local account that has none; some 100 ms of CPU time.
///
/// # Errors
/// When this server fails.
#[model::use_case]
pub async fn make(cx: &Cx, account: AccountId) -> Result<()> {
    if !store::account::lacks_keys(&cx.db, account).await? {
        return Ok(());
    }
    let made = tokio::task::spawn_blocking(key_pair::generate).await.map_err(context::Error::internal)?;
    let (public, private) = made.map_err(context::Error::internal)?;
    let sealed = seal(cx, account, &private)?;
    let mut tx = cx.db.begin().await?;
    store::account::set_keys(&mut tx, account, &public, &sealed).await?;
    Ok(tx.commit().await?)
}
