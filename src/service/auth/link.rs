//! One-time links: e-mail confirmation, password reset, creating the owner's account.
//!
//! Only a hash is stored. The token is derived from the server's secret key and the link's id, so that a queued mail
//! contains only the id. An account has at most one valid link of each kind, the latest.

use context::Cx;
use context::error::Result;
use crypto::Secret;
use database::Tx;
use model::link::{Link, LinkKind};
use model::{AccountId, RowId};

/// Purpose string of the key derivation.
const PURPOSE: &str = "one-time link";

/// URL path of a link of `kind`.
fn path(kind: LinkKind) -> &'static str {
    match kind {
        LinkKind::ConfirmEmail => "/auth/confirmation",
        LinkKind::ResetPassword => "/auth/password/edit",
        LinkKind::OwnerSetup => "/auth/setup",
    }
}

/// Creates a link for `account` (`None`: not bound to an account). An earlier link of the same kind becomes invalid.
pub async fn create(
    cx: &Cx,
    tx: &mut Tx,
    kind: LinkKind,
    account: Option<AccountId>,
    email: Option<&str>,
) -> Result<RowId> {
    let now = cx.clock.now();
    let link = Link {
        id: cx.ids.next(),
        kind,
        account_id: account,
        email: email.map(str::to_owned),
        expires_at: now + kind.lifetime(),
    };
    if let Some(account) = account {
        // Serialises concurrent requests, so that only the last link stays valid.
        store::account::lock(tx, &[account]).await?;
    }
    store::one_time_link::delete_all(tx, kind, account).await?;
    store::one_time_link::insert(tx, &link, crypto::hash(secret(cx, link.id).expose()), now).await?;
    Ok(link.id)
}

/// The URL of a link, including its token. Anyone with the URL can use the link.
#[must_use]
pub fn url(cx: &Cx, kind: LinkKind, id: RowId) -> String {
    cx.urls.path(&format!("{}?token={}", path(kind), secret(cx, id).expose()))
}

/// The link of `kind` with this token; `None` when it is unknown, used or expired.
pub async fn find(cx: &Cx, kind: LinkKind, token: &str) -> Result<Option<Link>> {
    Ok(store::one_time_link::find_by_hash(&cx.db, kind, &crypto::hash(token), cx.clock.now()).await?)
}

/// As [`find`], and marks the link as used when `tx` is committed.
pub async fn redeem(cx: &Cx, tx: &mut Tx, kind: LinkKind, token: &str) -> Result<Option<Link>> {
    let found = store::one_time_link::find_by_hash(&mut *tx, kind, &crypto::hash(token), cx.clock.now()).await?;
    match found {
        Some(link) if store::one_time_link::delete(tx, link.id).await? => Ok(Some(link)),
        Some(_) | None => Ok(None),
    }
}

fn secret(cx: &Cx, id: RowId) -> Secret {
    cx.keys.derive(PURPOSE, &id.to_string())
}
