//! Relays.

use database::{Conn, Result, Tx, sql};
use model::relay::{RelayKind, RelayState};
use model::{RowId, Time, boxed};

/// A relay.
#[derive(Clone, Debug, PartialEq, model::Row)]
pub struct Relay {
    pub id: RowId,
    pub inbox_url: String,
    /// The actor of the relay; `None` until it is known.
    pub actor_uri: Option<String>,
    pub kind: RelayKind,
    pub state: RelayState,
    /// The id of the last follow, unless it was undone.
    pub follow_activity_id: Option<String>,
    pub created_at: Time,
}

macro_rules! columns {
    () => {
        "SELECT r.id, r.inbox_url, r.actor_uri, r.kind, r.state, r.follow_activity_id, r.created_at FROM relays r"
    };
}

/// All relays, oldest first.
#[boxed]
pub async fn list(db: Conn<'_>) -> Result<Vec<Relay>> {
    db.query(sql!(columns!() " ORDER BY r.id")).all().await
}

/// The relays that accepted.
#[boxed]
pub async fn list_accepted(db: Conn<'_>) -> Result<Vec<Relay>> {
    db.query(sql!(columns!() " WHERE r.state = $1 ORDER BY r.id")).bind(RelayState::Accepted).all().await
}

#[boxed]
pub async fn find(db: Conn<'_>, id: RowId) -> Result<Option<Relay>> {
    db.query(sql!(columns!() " WHERE r.id = $1")).bind(id).optional().await
}

/// The relay that the follow `activity` was sent to.
#[boxed]
pub async fn find_by_follow(db: Conn<'_>, activity: &str) -> Result<Option<Relay>> {
    db.query(sql!(columns!() " WHERE r.follow_activity_id = $1")).bind(activity.to_owned()).optional().await
}

/// The relays with this actor.
#[boxed]
pub async fn list_by_actor(db: Conn<'_>, uri: &str) -> Result<Vec<Relay>> {
    db.query(sql!(columns!() " WHERE r.actor_uri = $1")).bind(uri.to_owned()).all().await
}

/// Inserts a relay; false when there is one with its inbox.
#[boxed]
pub async fn insert(tx: &mut Tx, relay: &Relay) -> Result<bool> {
    let inserted = tx
        .query(sql!(
            "INSERT INTO relays (id, inbox_url, actor_uri, kind, state, follow_activity_id, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (inbox_url) DO NOTHING"
        ))
        .bind(relay.id)
        .bind(relay.inbox_url.clone())
        .bind(relay.actor_uri.clone())
        .bind(relay.kind)
        .bind(relay.state)
        .bind(relay.follow_activity_id.clone())
        .bind(relay.created_at)
        .execute()
        .await?;
    Ok(inserted > 0)
}

/// Changes the actor, state and follow of a relay; false when it is gone or its follow is no longer `follow`.
#[boxed]
pub async fn update(tx: &mut Tx, relay: &Relay, follow: Option<&str>) -> Result<bool> {
    let updated = tx
        .query(sql!(
            "UPDATE relays SET actor_uri = $2, state = $3, follow_activity_id = $4
             WHERE id = $1 AND follow_activity_id IS NOT DISTINCT FROM $5"
        ))
        .bind(relay.id)
        .bind(relay.actor_uri.clone())
        .bind(relay.state)
        .bind(relay.follow_activity_id.clone())
        .bind(follow.map(str::to_owned))
        .execute()
        .await?;
    Ok(updated > 0)
}

/// Deletes a relay; false when it is gone.
#[boxed]
pub async fn delete(tx: &mut Tx, id: RowId) -> Result<bool> {
    Ok(tx.query(sql!("DELETE FROM relays WHERE id = $1")).bind(id).execute().await? > 0)
}
