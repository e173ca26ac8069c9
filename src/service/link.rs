//! Links that work once: confirming an address, choosing a new password, creating the owner.
//!
//! What is stored is a hash. The secret is derived from the server's key and the link's id, so that a mail that waits in
//! the queue holds no more than the id. Of each kind an account has one link: the latest.

use crate::app::App;
use crate::error::Result;
use crypto::Secret;
use model::link::{Link, LinkKind};
use model::{AccountId, RowId};
use store::Tx;

/// What the secrets are derived for.
const PURPOSE: &str = "one-time link";

/// Where a link of `kind` leads.
fn path(kind: LinkKind) -> &'static str {
    match kind {
        LinkKind::ConfirmEmail => "/auth/confirmation",
        LinkKind::ResetPassword => "/auth/password/edit",
        LinkKind::OwnerSetup => "/auth/setup",
    }
}

/// Makes a link for `account` (`None`: for whoever has it); the earlier one of its kind stops working.
///
/// # Errors
/// When the database does.
pub async fn create(
    app: &App,
    tx: &mut Tx,
    kind: LinkKind,
    account: Option<AccountId>,
    email: Option<&str>,
) -> Result<RowId> {
    let now = app.clock.now();
    let link = Link {
        id: app.ids.next(),
        kind,
        account_id: account,
        email: email.map(str::to_owned),
        expires_at: now + kind.lifetime(),
    };
    store::link::delete_all(tx, kind, account).await?;
    store::link::insert(tx, &link, crypto::hash(secret(app, link.id).expose()), now).await?;
    Ok(link.id)
}

/// The address that a link is opened by. Whoever has it can use the link.
#[must_use]
pub fn url(app: &App, kind: LinkKind, id: RowId) -> String {
    app.urls.path(&format!("{}?token={}", path(kind), secret(app, id).expose()))
}

/// The link of `kind` with this secret; `None` when it is unknown, used or expired.
///
/// # Errors
/// When the database does.
pub async fn find(app: &App, kind: LinkKind, token: &str) -> Result<Option<Link>> {
    Ok(store::link::find_by_hash(&app.db, kind, &crypto::hash(token), app.clock.now()).await?)
}

/// As [`find`], and it never works again once `tx` is committed.
///
/// # Errors
/// When the database does.
pub async fn redeem(app: &App, tx: &mut Tx, kind: LinkKind, token: &str) -> Result<Option<Link>> {
    let found = store::link::find_by_hash(&mut *tx, kind, &crypto::hash(token), app.clock.now()).await?;
    match found {
        Some(link) if store::link::delete(tx, link.id).await? => Ok(Some(link)),
        Some(_) | None => Ok(None),
    }
}

fn secret(app: &App, id: RowId) -> Secret {
    app.keys.derive(PURPOSE, &id.to_string())
}
