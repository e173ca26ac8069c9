//! Authentication by access token: the grant behind a token, its account, and whether that account can be used.
//!
//! Reached from the HTTP layer's extractors. Browser sessions are `service::session`.

use std::sync::Arc;

use chrono::Duration;

use crate::Cx;
use crate::error::Result;
use model::actor::Unusable;
use model::{AccountId, Actor, AppId, Scopes, Time, TokenId};
use store::oauth::TokenActorRow;

/// How often an account's last activity is written: once a day is enough for the usage statistics.
const TOUCH_AFTER: Duration = Duration::hours(24);

/// Seconds of a week, the unit of the usage statistics.
const WEEK_SECONDS: i64 = 7 * 24 * 60 * 60;

/// A valid token: its scopes, application and account.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The token.
    pub token: TokenId,
    /// The application it was issued to; `None` when the command line issued it.
    pub app: Option<AppId>,
    /// Its scopes.
    pub scopes: Scopes,
    /// The account, when the token is bound to one.
    pub actor: Option<Arc<Actor>>,
    /// Why the account cannot be used, if so.
    pub unusable: Option<Unusable>,
}

/// The grant of `token`; `None` when the token is unknown or revoked.
pub async fn grant(cx: &Cx, token: &str) -> Result<Option<Grant>> {
    let Some(row) = store::oauth::find_grant(&cx.db, &crypto::hash(token)).await? else { return Ok(None) };
    let stale = row.last_used_at.is_none_or(|at| cx.clock.now() - at > TOUCH_AFTER);
    let grant = Grant::from_row(row);
    let idle = grant
        .actor
        .as_ref()
        .is_some_and(|actor| actor.last_active_at.is_none_or(|at| cx.clock.now() - at > TOUCH_AFTER));
    if stale || idle {
        // Statistics only: written in the background, and no harm when lost.
        let (cx, grant) = (cx.clone(), grant.clone());
        tokio::spawn(async move {
            if let Err(error) = touch(&cx, &grant).await {
                tracing::warn!(%error, "could not note that a token was used");
            }
        });
    }
    Ok(Some(grant))
}

/// The accounts of `accounts` that are not suspended, local and remote, as viewers: without token or scopes, in no
/// particular order.
pub async fn viewers(cx: &Cx, accounts: &[AccountId]) -> Result<Vec<Actor>> {
    let people = people(cx, accounts).await?.into_iter();
    Ok(people.filter(|(_, why)| *why != Some(Unusable::Suspended)).map(|(actor, _)| actor).collect())
}

/// The local accounts of `accounts`, as actors: without token or scopes, in no particular order.
pub async fn actors(cx: &Cx, accounts: &[AccountId]) -> Result<Vec<Actor>> {
    let people = people(cx, accounts).await?.into_iter();
    Ok(people.filter(|(_, why)| why.is_none()).map(|(actor, _)| actor).collect())
}

async fn people(cx: &Cx, accounts: &[AccountId]) -> Result<Vec<(Actor, Option<Unusable>)>> {
    let rows = store::oauth::list_actors(&cx.db, accounts).await?;
    let person = |row| {
        let Grant { actor, unusable, .. } = Grant::from_row(row);
        Some((Actor { token: None, ..Arc::unwrap_or_clone(actor?) }, unusable))
    };
    Ok(rows.into_iter().filter_map(person).collect())
}

async fn touch(cx: &Cx, grant: &Grant) -> Result<()> {
    let now = cx.clock.now();
    let mut tx = cx.db.begin().await?;
    store::oauth::touch_token(&mut tx, grant.token, now).await?;
    if let (Some(actor), None) = (&grant.actor, grant.unusable) {
        store::account::record_activity(&mut tx, actor.id, now, week(now)).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// The week of `time`, counted from the epoch.
#[must_use]
pub fn week(time: Time) -> i64 {
    time.timestamp().div_euclid(WEEK_SECONDS)
}

impl Grant {
    fn from_row(row: TokenActorRow) -> Self {
        let scopes = Scopes::from_stored(&row.scopes);
        let unusable = row.account_id.and_then(|_| unusable(&row));
        let actor = row.account_id.map(|id| {
            Arc::new(Actor {
                id,
                version: row.version.unwrap_or_default(),
                relations_version: row.relations_version.unwrap_or_default(),
                username: row.username.unwrap_or_default(),
                locked: row.locked.unwrap_or_default(),
                limited: row.limited_at.is_some(),
                permissions: row.permissions.effective(),
                locale: row.locale,
                preferences: row.preferences.map(|json| json.0).unwrap_or_default(),
                last_active_at: row.last_active_at,
                feed_live: row.feed_state.as_deref() == Some("live"),
                token: Some(row.token_id),
                app: row.app_id,
                scopes: scopes.clone(),
            })
        });
        Self { token: row.token_id, app: row.app_id, scopes, actor, unusable }
    }
}

fn unusable(row: &TokenActorRow) -> Option<Unusable> {
    let checks = [
        (row.suspended_at.is_some(), Unusable::Suspended),
        (row.confirmed_at.is_none(), Unusable::Unconfirmed),
        (row.approved != Some(true), Unusable::Pending),
        (row.disabled == Some(true), Unusable::Disabled),
        (row.memorial == Some(true), Unusable::Memorial),
        (row.moved_to_account_id.is_some(), Unusable::Moved),
    ];
    checks.into_iter().find(|(applies, _)| *applies).map(|(_, why)| why)
}
