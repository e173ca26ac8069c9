//! The keys with which this server signs: the keys of its accounts, and the key of the server's actor.
//!
//! The server's actor signs requests that are not made on behalf of an account. Its key pair is made when it is first
//! needed. Signing takes about a millisecond of CPU time and runs on a blocking thread.

use context::{Cx, Error, Result};
use crypto::rsa::SigningKey;
use crypto::{Secret, key_pair};
use model::AccountId;
use outbound::{HeaderMap, Target};

use crate::signature::{Post, Signer};
use crate::state::{Network, ServerKey};

/// The id of the server's actor among accounts (docs/contract/federation.md#2-uris).
pub(crate) const SERVER: i64 = -99;
/// The name of the key pair in the database, and the purpose of the key that seals it.
const KEY: &str = "actor";
/// Separates the private from the public key in the sealed text.
const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----";

/// The key pair of the server's actor, made on first use.
///
/// # Errors
/// [`Error::Unavailable`] when the stored one was sealed with another secret key.
pub(crate) async fn server_key(cx: &Cx) -> Result<&ServerKey> {
    Network::of(cx)?.server_key.get_or_try_init(|| load_server_key(cx)).await
}

async fn load_server_key(cx: &Cx) -> Result<ServerKey> {
    let stored = match store::server_key::find(&cx.db, KEY).await? {
        Some(stored) => stored,
        None => {
            let (public, private) =
                tokio::task::spawn_blocking(key_pair::generate).await.map_err(Error::internal)??;
            let pair = Secret::from(format!("{}{public}", private.expose()));
            let sealed = cx.keys.seal(KEY, KEY, &pair)?;
            let mut tx = cx.db.begin().await?;
            store::server_key::insert(&mut tx, KEY, &sealed, cx.clock.now()).await?;
            let stored = store::server_key::find(&mut tx, KEY).await?.unwrap_or(sealed);
            tx.commit().await?;
            stored
        }
    };
    let lost = || Error::Unavailable("the key of the server's actor was sealed with another secret key".into());
    let pair = cx.keys.open(KEY, KEY, &stored).ok_or_else(lost)?;
    let at = pair.expose().find(PUBLIC).ok_or_else(lost)?;
    let (private, public) = pair.expose().split_at(at);
    Ok(ServerKey { signing: SigningKey::parse(&Secret::from(private.to_owned()))?, public: public.to_owned() })
}

/// A key with its id.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    key: SigningKey,
    key_id: String,
}

/// The identity of the server's actor.
///
/// # Errors
/// As [`server_key`].
pub(crate) async fn server(cx: &Cx) -> Result<Identity> {
    let key = server_key(cx).await?.signing.clone();
    Ok(Identity { key, key_id: cx.urls.path("/actor#main-key") })
}

/// The identity of the local account `id`; `sealed`: its private key if it is no longer in its row. `None` when it is
/// gone.
///
/// # Errors
/// [`Error::Unavailable`] while it has no key, or a key that cannot be opened.
pub(crate) async fn account(cx: &Cx, id: AccountId, sealed: Option<String>) -> Result<Option<Identity>> {
    if i64::from(id) == SERVER {
        return server(cx).await.map(Some);
    }
    let Some(row) = store::remote::get_actor(&cx.db, id).await?.filter(|row| row.domain.is_none()) else {
        return Ok(None);
    };
    let no_key = || Error::Unavailable("the account has no key that can be opened".into());
    let sealed = sealed.or(row.private_key).ok_or_else(no_key)?;
    let key_id = format!("{}#main-key", row.uri);
    let network = Network::of(cx)?;
    if let Some(key) = network.signing_key(id, &sealed) {
        return Ok(Some(Identity { key, key_id }));
    }
    let private = service::signing_key::open(cx, id, &sealed).ok_or_else(no_key)?;
    let key = SigningKey::parse(&private)?;
    network.keep_signing_key(id, sealed, key.clone());
    Ok(Some(Identity { key, key_id }))
}

/// The content type of documents that are sent.
pub(crate) const CONTENT_TYPE: &str = "application/activity+json";

impl Identity {
    /// The headers of a signed GET.
    ///
    /// # Errors
    /// [`Error::Internal`], which is a bug.
    pub(crate) async fn get(&self, cx: &Cx, target: &Target) -> Result<HeaderMap> {
        let (identity, target, now) = (self.clone(), target.clone(), cx.clock.now());
        let sign = move || Signer { key: &identity.key, key_id: &identity.key_id }.get(&target, now);
        tokio::task::spawn_blocking(sign).await.map_err(Error::internal)?.map_err(Error::internal)
    }

    /// The headers of a signed POST of `body`. `synchronization`: the value of `Collection-Synchronization`.
    ///
    /// # Errors
    /// [`Error::Internal`], which is a bug.
    pub(crate) async fn post(
        &self,
        cx: &Cx,
        target: &Target,
        body: std::sync::Arc<str>,
        synchronization: Option<String>,
    ) -> Result<HeaderMap> {
        let (identity, target, now) = (self.clone(), target.clone(), cx.clock.now());
        let sign = move || {
            let synchronization = synchronization.as_deref();
            let post = Post { content_type: CONTENT_TYPE, body: body.as_bytes(), synchronization };
            Signer { key: &identity.key, key_id: &identity.key_id }.post(&target, now, post)
        };
        tokio::task::spawn_blocking(sign).await.map_err(Error::internal)?.map_err(Error::internal)
    }
}
