//! Who is behind a token, and whether their account can be used.

use std::sync::Arc;

use chrono::Duration;

use crate::app::App;
use crate::error::Result;
use model::actor::Unusable;
use model::{AccountId, Actor, AppId, Permissions, Scopes, Time, TokenId};
use store::oauth::GrantRow;

/// How old the note of an account's last use may get before it is written again: once a day is enough for the figures.
const TOUCH_AFTER: Duration = Duration::hours(24);

/// Seconds of a week: the unit of the usage figures.
const WEEK_SECONDS: i64 = 7 * 24 * 60 * 60;

/// A valid token: what it allows, and who is behind it, if anyone.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The token.
    pub token: TokenId,
    /// The application it was given to; `None` when the command line made it.
    pub app: Option<AppId>,
    /// What it allows.
    pub scopes: Scopes,
    /// The person, when the token is bound to one.
    pub actor: Option<Arc<Actor>>,
    /// Why the person's account cannot be used, if so.
    pub unusable: Option<Unusable>,
}

/// The grant of `token`; `None` when it is not, or no longer, one of ours.
///
/// # Errors
/// When the database does.
pub async fn grant(app: &App, token: &str) -> Result<Option<Grant>> {
    let Some(row) = store::oauth::find_grant(&app.db, &crypto::hash(token)).await? else { return Ok(None) };
    let stale = row.last_used_at.is_none_or(|at| app.clock.now() - at > TOUCH_AFTER);
    let grant = Grant::from_row(row);
    let idle = grant
        .actor
        .as_ref()
        .is_some_and(|actor| actor.last_active_at.is_none_or(|at| app.clock.now() - at > TOUCH_AFTER));
    if stale || idle {
        // Figures only: nobody waits for them, and losing them harms nobody.
        let (app, grant) = (app.clone(), grant.clone());
        tokio::spawn(async move {
            if let Err(error) = touch(&app, &grant).await {
                tracing::warn!(%error, "could not note that a token was used");
            }
        });
    }
    Ok(Some(grant))
}

/// Those of `accounts` that are not suspended, local and remote, as viewers: without a token or scopes. In no order.
///
/// # Errors
/// When the database does.
pub async fn viewers(app: &App, accounts: &[AccountId]) -> Result<Vec<Actor>> {
    let people = people(app, accounts).await?.into_iter();
    Ok(people.filter(|(_, why)| *why != Some(Unusable::Suspended)).map(|(actor, _)| actor).collect())
}

/// Those of `accounts` that a person of this server uses, as actors: without a token or scopes. In no order.
///
/// # Errors
/// When the database does.
pub async fn actors(app: &App, accounts: &[AccountId]) -> Result<Vec<Actor>> {
    let people = people(app, accounts).await?.into_iter();
    Ok(people.filter(|(_, why)| why.is_none()).map(|(actor, _)| actor).collect())
}

async fn people(app: &App, accounts: &[AccountId]) -> Result<Vec<(Actor, Option<Unusable>)>> {
    let rows = store::oauth::list_people(&app.db, accounts).await?;
    let person = |row| {
        let Grant { actor, unusable, .. } = Grant::from_row(row);
        Some((Actor { token: None, ..Arc::unwrap_or_clone(actor?) }, unusable))
    };
    Ok(rows.into_iter().filter_map(person).collect())
}

async fn touch(app: &App, grant: &Grant) -> Result<()> {
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    store::oauth::touch_token(&mut tx, grant.token, now).await?;
    if let (Some(actor), None) = (&grant.actor, grant.unusable) {
        store::account::touch(&mut tx, actor.id, now, week(now)).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// The number of the week of `time`, from the epoch on.
#[must_use]
pub fn week(time: Time) -> i64 {
    time.timestamp().div_euclid(WEEK_SECONDS)
}

impl Grant {
    fn from_row(row: GrantRow) -> Self {
        let scopes = Scopes::from_stored(&row.scopes);
        let unusable = row.account_id.and_then(|_| unusable(&row));
        let actor = row.account_id.map(|id| {
            Arc::new(Actor {
                id,
                version: row.version.unwrap_or_default(),
                username: row.username.unwrap_or_default(),
                locked: row.locked.unwrap_or_default(),
                limited: row.limited_at.is_some(),
                permissions: Permissions::effective(
                    row.role_permissions.unwrap_or_default(),
                    row.everyone_permissions.unwrap_or_default(),
                ),
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

fn unusable(row: &GrantRow) -> Option<Unusable> {
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
