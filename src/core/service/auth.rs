//! Authentication by access token: the grant behind a token, its account, and whether that account can be used.
//!
//! Reached from the HTTP layer's extractors. Browser sessions are `service::session`.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::Duration;
use quick_cache::sync::Cache;

use crate::Cx;
use crate::error::Result;
use database::versions::{Dependency, Versions};
use model::actor::{Membership, Unusable};
use model::{AccountId, Actor, AppId, Scopes, Time, TokenId};
use store::oauth::TokenActorRow;

/// How often an account's last activity is written: once a day is enough for the usage statistics.
const TOUCH_AFTER: Duration = Duration::hours(24);

/// Most grants that are kept, about 1 KiB each.
const GRANTS: usize = 10_000;

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

/// Grants that were read lately, by the hash of their token. On SQLite one is used for as long as none of its rows
/// changed ([`database::versions`]); on PostgreSQL, where other nodes change them, none is kept.
#[derive(Debug)]
pub struct Grants {
    kept: Cache<String, Kept>,
    /// Tokens whose use is being noted: requests that come meanwhile need not note it again.
    touching: Mutex<HashSet<TokenId>>,
}

/// A grant, and when it was read.
#[derive(Clone, Debug)]
struct Kept {
    grant: Arc<Grant>,
    noted: u64,
    /// When its use is to be noted in the database again.
    touch_at: Time,
}

impl Kept {
    fn is_current(&self, versions: &Versions) -> bool {
        let token = Dependency::Token(self.grant.token);
        match &self.grant.actor {
            Some(actor) => versions.is_current(self.noted, &[token, Dependency::Account(actor.id)]),
            None => versions.is_current(self.noted, &[token]),
        }
    }
}

impl Default for Grants {
    fn default() -> Self {
        Self { kept: Cache::new(GRANTS), touching: Mutex::default() }
    }
}

impl Grants {
    /// Whether the use of some token is being noted in the background.
    #[must_use]
    pub fn are_touched(&self) -> bool {
        !self.touching().is_empty()
    }

    fn touching(&self) -> MutexGuard<'_, HashSet<TokenId>> {
        self.touching.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The grant of `token`; `None` when the token is unknown or revoked.
pub async fn grant(cx: &Cx, token: &str) -> Result<Option<Arc<Grant>>> {
    let hash = crypto::hash(token);
    let versions = cx.db.versions();
    if let (Some(versions), Some(kept)) = (versions, cx.grants.kept.get(&hash))
        && kept.is_current(versions)
        && cx.clock.now() < kept.touch_at
    {
        return Ok(Some(kept.grant));
    }
    let noted = versions.map(Versions::now);
    let Some(row) = store::oauth::find_grant(&cx.db, &hash).await? else { return Ok(None) };
    let touch_at = touch_at(&row);
    let grant = Arc::new(Grant::from_row(row));
    if cx.clock.now() >= touch_at {
        touch_later(cx, &grant);
    } else if let Some(noted) = noted {
        cx.grants.kept.insert(hash, Kept { grant: Arc::clone(&grant), noted, touch_at });
    }
    Ok(Some(grant))
}

/// When the use of a token is to be noted again: at once when it or its account was never used.
fn touch_at(row: &TokenActorRow) -> Time {
    let never = Time::from_micros(0);
    let active = row.account_id.map(|_| row.last_active_at.unwrap_or(never));
    let used = row.last_used_at.unwrap_or(never);
    active.map_or(used, |active| active.min(used)) + TOUCH_AFTER
}

/// Notes in the background that a token was used: statistics only, and no harm when lost.
fn touch_later(cx: &Cx, grant: &Arc<Grant>) {
    if !cx.grants.touching().insert(grant.token) {
        return;
    }
    let touching = Touching { cx: cx.clone(), token: grant.token };
    let grant = Arc::clone(grant);
    tokio::spawn(async move {
        if let Err(error) = touch(&touching.cx, &grant).await {
            crate::log_failure!(error, "could not note that a token was used");
        }
    });
}

/// The use of a token being noted, until this is dropped.
struct Touching {
    cx: Cx,
    token: TokenId,
}

impl Drop for Touching {
    fn drop(&mut self) {
        self.cx.grants.touching().remove(&self.token);
    }
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

/// Those of `tokens` that are valid, and whose accounts can be used, in no particular order.
pub async fn usable(cx: &Cx, tokens: &[TokenId]) -> Result<Vec<TokenId>> {
    let rows = store::oauth::list_grants(&cx.db, tokens).await?.into_iter();
    let usable = rows.filter(|row| row.account_id.is_some() && unusable(row).is_none());
    Ok(usable.map(|row| row.token_id).collect())
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
    /// The person of the token, who may use this server; `None` for a token that is an application's own.
    ///
    /// # Errors
    /// Why the account cannot be used.
    pub fn person(&self) -> Result<Option<&Arc<Actor>>, Unusable> {
        self.unusable.map_or(Ok(self.actor.as_ref()), Err)
    }

    fn from_row(row: TokenActorRow) -> Self {
        let scopes = Scopes::from_stored(&row.scopes);
        let unusable = row.account_id.and_then(|_| unusable(&row));
        let actor = row.account_id.map(|id| {
            Arc::new(Actor {
                id,
                version: row.version.unwrap_or_default(),
                relations_version: row.relations_version.unwrap_or_default(),
                filters_version: row.filters_version.unwrap_or_default(),
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
    let membership = Membership {
        suspended: row.suspended_at.is_some(),
        confirmed: row.confirmed_at.is_some(),
        approved: row.approved == Some(true),
        disabled: row.disabled == Some(true),
        memorial: row.memorial == Some(true),
        moved: row.moved_to_account_id.is_some(),
    };
    membership.unusable()
}
