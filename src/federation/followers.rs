//! Digests of followers, by the server that they are accounts of (FEP-8fcf).
//!
//! The digest of a set of URIs is the exclusive or of their SHA-256 hashes, so that it depends on no order.
//!
//! Spec: docs/contract/federation.md#9-followers-synchronisation

use std::collections::HashMap;

use context::{Cx, Result};
use model::{AccountId, RowId};

use crate::address::host_of;

/// Most followers on one server that are compared: of more, neither a digest nor a list is sent.
pub(crate) const FOLLOWERS_MAX: usize = 50_000;
/// Followers that are read at a time.
const BATCH: i64 = 5_000;

/// A digest of URIs, and their number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Digest {
    bytes: [u8; 32],
    count: usize,
}

impl Digest {
    pub(crate) fn add(&mut self, uri: &str) {
        let hash = crypto::digest_sha256(uri.as_bytes());
        self.bytes.iter_mut().zip(hash).for_each(|(byte, other)| *byte ^= other);
        self.count += 1;
    }

    /// 64 digits; `None` beyond [`FOLLOWERS_MAX`].
    pub(crate) fn hex(&self) -> Option<String> {
        (self.count <= FOLLOWERS_MAX).then(|| crypto::hex(&self.bytes))
    }
}

/// The digests of an account's followers by their origins; an origin without followers has none.
pub(crate) type Digests = HashMap<String, Digest>;

/// The scheme and host of a URL, with its port unless it is the usual one.
pub(crate) fn origin_of(url: &str) -> Option<String> {
    let host = host_of(url)?;
    let (scheme, _) = url.split_once("://")?;
    Some(format!("{}://{host}", scheme.to_ascii_lowercase()))
}

/// The digests of the followers of the local account `account` on other servers.
pub(crate) async fn digests(cx: &Cx, account: AccountId) -> Result<Digests> {
    let mut found = Digests::new();
    let mut after = RowId::from(0);
    loop {
        let batch = store::synchronization::list_followers(&cx.db, account, false, after, BATCH).await?;
        let Some(last) = batch.last() else { return Ok(found) };
        after = last.follow_id;
        for follower in &batch {
            if let Some(origin) = origin_of(&follower.uri) {
                found.entry(origin).or_default().add(&follower.uri);
            }
        }
    }
}

/// The accounts of this server that follow the remote account `account`, by their URIs.
pub(crate) async fn local(cx: &Cx, account: AccountId) -> Result<HashMap<String, AccountId>> {
    let mut found = HashMap::new();
    let mut after = RowId::from(0);
    loop {
        let batch = store::synchronization::list_followers(&cx.db, account, true, after, BATCH).await?;
        let Some(last) = batch.last() else { return Ok(found) };
        after = last.follow_id;
        found.extend(batch.into_iter().map(|follower| (follower.uri, follower.account_id)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_depends_on_no_order() {
        let of = |uris: &[&str]| {
            let mut digest = Digest::default();
            uris.iter().for_each(|uri| digest.add(uri));
            digest.hex().expect("few URIs")
        };
        assert_eq!(of(&[]), "0".repeat(64));
        assert_eq!(of(&["https://a.test/x"]), crypto::sha256_hex(b"https://a.test/x"));
        assert_eq!(of(&["a", "b", "c"]), of(&["c", "a", "b"]));
        assert_ne!(of(&["a", "b"]), of(&["a", "c"]));
    }

    #[test]
    fn origin_has_scheme_and_port() {
        assert_eq!(origin_of("HTTPS://A.test:443/x").as_deref(), Some("https://a.test"));
        assert_eq!(origin_of("http://a.test:3000/x").as_deref(), Some("http://a.test:3000"));
        assert_eq!(origin_of("a.test/x"), None);
    }
}
