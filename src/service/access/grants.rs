//! Authentication by access token: the grant behind a token, its account, and whether that account can be used.

use std::sync::Arc;

use crate::user_ip;
use context::Cx;
use context::caches::before_read;
use context::error::Result;
use crypto::Secret;
use database::versions::Dependency;
use model::actor::{Membership, Unusable};
use model::{AccountId, Actor, Grant, Scopes, Time, TokenId};
use store::oauth::TokenActorRow;

/// An account's last activity is written once a day, which is enough for the usage statistics.
const DAY_SECONDS: i64 = 24 * 60 * 60;

/// Seconds of a week, the unit of the usage statistics.
const WEEK_SECONDS: i64 = 7 * 24 * 60 * 60;

/// The grant of `token`; `None` when the token is unknown or revoked.
#[model::use_case]
pub async fn grant(cx: &Cx, token: &str) -> Result<Option<Arc<Grant>>> {
    let hash = crypto::hash(token);
    if let Some((grant, touch_at)) = cx.caches.grants.unchanged(&cx.db, &hash, |(grant, _)| rows(grant))
        && cx.clock.now() < touch_at
    {
        return Ok(Some(grant));
    }
    let read = before_read(&cx.db);
    let Some(row) = store::oauth::find_grant(&cx.db, &hash).await? else { return Ok(None) };
    let touch_at = touch_at(&row);
    let grant = Arc::new(from_row(row));
    if cx.clock.now() >= touch_at {
        touch_later(cx, &grant);
    } else if let Some(read) = read {
        cx.caches.grants.insert_at(hash, read, (Arc::clone(&grant), touch_at));
    }
    Ok(Some(grant))
}

/// The rows from which a grant was read; without an account, the token twice.
fn rows(grant: &Grant) -> [Dependency; 2] {
    let token = Dependency::Token(grant.token);
    [token, grant.actor.as_ref().map_or(token, |actor| Dependency::Account(actor.id))]
}

/// When the next use of a token is recorded: from the next day (in UTC) on, and immediately if the token or its account was never used.
fn touch_at(row: &TokenActorRow) -> Time {
    let never = Time::from_micros(0);
    let active = row.account_id.map(|_| row.last_active_at.unwrap_or(never));
    let used = row.last_used_at.unwrap_or(never);
    let last = active.map_or(used, |active| active.min(used));
    Time::from_micros((day(last) + 1) * DAY_SECONDS * 1_000_000)
}

/// Records the use of a token in the background. Used only for statistics and the addresses that staff see, so a lost
/// update is harmless.
fn touch_later(cx: &Cx, grant: &Arc<Grant>) {
    if !cx.recording_uses.insert(grant.token) {
        return;
    }
    let touching = Touching { cx: cx.clone(), token: grant.token };
    let grant = Arc::clone(grant);
    tokio::spawn(async move {
        if let Err(error) = touch(&touching.cx, &grant).await {
            context::log_failure!(error, "could not record the use of a token");
        }
    });
}

/// A use of a token that is being recorded, until dropped.
struct Touching {
    cx: Cx,
    token: TokenId,
}

impl Drop for Touching {
    fn drop(&mut self) {
        self.cx.recording_uses.remove(self.token);
    }
}

/// The accounts among `accounts` that are not suspended, local and remote, as viewers: without token or scopes, in no
/// particular order.
#[model::use_case]
pub async fn viewers(cx: &Cx, accounts: &[AccountId]) -> Result<Vec<Actor>> {
    let people = people(cx, accounts).await?.into_iter();
    Ok(people.filter(|(_, why)| *why != Some(Unusable::Suspended)).map(|(actor, _)| actor).collect())
}

/// The local accounts among `accounts`, as actors: without token or scopes, in no particular order.
#[model::use_case]
pub async fn actors(cx: &Cx, accounts: &[AccountId]) -> Result<Vec<Actor>> {
    let people = people(cx, accounts).await?.into_iter();
    Ok(people.filter(|(_, why)| why.is_none()).map(|(actor, _)| actor).collect())
}

/// As [`actors`], from memory for accounts whose rows are unchanged. One statement for the others, or none.
#[model::use_case]
pub async fn cached_actors(cx: &Cx, accounts: &[AccountId]) -> Result<Vec<Arc<Actor>>> {
    let (mut found, mut missing) = (Vec::with_capacity(accounts.len()), Vec::new());
    for id in accounts {
        match cx.caches.actors.unchanged(&cx.db, id, |_| [Dependency::Account(*id)]) {
            Some(actor) => found.push(actor),
            None => missing.push(*id),
        }
    }
    if missing.is_empty() {
        return Ok(found);
    }
    let read = before_read(&cx.db);
    for actor in actors(cx, &missing).await?.into_iter().map(Arc::new) {
        if let Some(read) = read {
            cx.caches.actors.insert_at(actor.id, read, Arc::clone(&actor));
        }
        found.push(actor);
    }
    Ok(found)
}

/// The `tokens` that are valid and whose accounts can be used, in no particular order.
#[model::use_case]
pub async fn usable(cx: &Cx, tokens: &[TokenId]) -> Result<Vec<TokenId>> {
    let rows = store::oauth::list_grants(&cx.db, tokens).await?.into_iter();
    let usable = rows.filter(|row| row.account_id.is_some() && unusable(row).is_none());
    Ok(usable.map(|row| row.token_id).collect())
}

async fn people(cx: &Cx, accounts: &[AccountId]) -> Result<Vec<(Actor, Option<Unusable>)>> {
    let rows = store::oauth::list_actors(&cx.db, accounts).await?;
    let person = |row| {
        let Grant { actor, unusable, .. } = from_row(row);
        Some((Actor { token: None, ..Arc::unwrap_or_clone(actor?) }, unusable))
    };
    Ok(rows.into_iter().filter_map(person).collect())
}

async fn touch(cx: &Cx, grant: &Grant) -> Result<()> {
    let now = cx.clock.now();
    let mut tx = cx.db.begin().await?;
    store::oauth::touch_token(&mut tx, grant.token, now).await?;
    if let (Some(actor), None) = (&grant.actor, grant.unusable) {
        store::account::record_activity(&mut tx, actor.id, now, week(now), day(now)).await?;
        user_ip::record(cx, &mut tx, actor.id).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// The week of `time`, counted from the epoch.
#[must_use]
pub fn week(time: Time) -> i64 {
    time.timestamp().div_euclid(WEEK_SECONDS)
}

/// The day of `time` in UTC, counted from the epoch.
fn day(time: Time) -> i64 {
    time.timestamp().div_euclid(DAY_SECONDS)
}

fn from_row(row: TokenActorRow) -> Grant {
    let scopes = Scopes::from_stored(&row.scopes);
    let unusable = row.account_id.and_then(|_| unusable(&row));
    let actor = row.account_id.map(|id| {
        Arc::new(Actor {
            id,
            version: row.version.unwrap_or_default(),
            relations_version: row.relations_version.unwrap_or_default(),
            filters_version: row.filters_version.unwrap_or_default(),
            username: row.username.unwrap_or_default(),
            uri: row.uri.unwrap_or_default(),
            // Only accounts of this server have a user.
            remote: row.approved.is_none(),
            locked: row.locked.unwrap_or_default(),
            limited: row.limited_at.is_some(),
            permissions: row.permissions.effective(),
            role_position: row.permissions.position(),
            locale: row.locale,
            preferences: row.preferences.map(|json| json.0).unwrap_or_default(),
            last_active_at: row.last_active_at,
            feed_live: row.feed_state.as_deref() == Some("live"),
            token: Some(row.token_id),
            app: row.app_id,
            scopes: scopes.clone(),
        })
    });
    Grant { token: row.token_id, app: row.app_id, scopes, actor, unusable }
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

/// The text of an existing token, derived again. Only for tokens issued with the current secret key.
#[must_use]
pub fn text(cx: &Cx, id: TokenId, nonce: &str) -> Secret {
    cx.keys.derive("access token", &format!("{id}.{nonce}"))
}
