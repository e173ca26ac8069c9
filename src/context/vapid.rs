//! The server's key pair for web push (VAPID, RFC 8292), sealed in the database.
//!
//! Read when the context opens. A new pair ends every subscription, see `service::push`.

use crate::Result;
use crypto::push::Vapid;
use crypto::{Keys, Secret};
use database::Db;
use model::Time;

/// The name of the key pair in the database, and the purpose of the key that seals it.
pub const KEY: &str = "vapid";

/// The server's key pair, created on the first start. `None` when it was sealed with another secret key: push is
/// disabled then.
pub(crate) async fn open(db: &Db, keys: &Keys, now: Time) -> Result<Option<Vapid>> {
    let mut stored = store::server_key::find(db, KEY).await?;
    if stored.is_none() {
        let sealed = keys.seal(KEY, KEY, &Vapid::generate()?)?;
        let mut tx = db.begin().await?;
        store::server_key::insert(&mut tx, KEY, &sealed, now).await?;
        stored = store::server_key::find(&mut tx, KEY).await?;
        tx.commit().await?;
    }
    let opened = stored.and_then(|sealed| keys.open(KEY, KEY, &sealed));
    Ok(opened.and_then(|private_key: Secret| Vapid::parse(&private_key).ok()))
}
