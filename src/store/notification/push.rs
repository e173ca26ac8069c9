//! Subscriptions to pushed notifications: at most one for each access token, deleted with it.
//!
//! Reached from `service::push`. Spec: docs/contract/push.md#1-rest.

use std::collections::BTreeMap;

use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::notification::PushPolicy;
use model::{AccountId, Json, Time, TokenId, boxed};

#[derive(Clone, Debug, model::Row)]
#[row(table = "push_subscriptions", alias = "s")]
pub struct Subscription {
    pub number: i64,
    pub token_id: TokenId,
    pub account_id: AccountId,
    pub endpoint: String,
    pub p256dh: String,
    pub auth: String,
    pub standard: bool,
    pub alerts: Json<BTreeMap<String, bool>>,
    pub policy: PushPolicy,
    pub failing_since: Option<Time>,
    pub created_at: Time,
}

/// A subscription to save.
#[derive(Clone, Debug)]
pub struct NewSubscription {
    pub token_id: TokenId,
    pub account_id: AccountId,
    pub endpoint: String,
    pub p256dh: String,
    pub auth: String,
    pub standard: bool,
    pub alerts: BTreeMap<String, bool>,
    pub policy: PushPolicy,
}

/// Saves the subscription of a token, replacing an existing one.
#[boxed]
pub async fn save(tx: &mut Tx, new: NewSubscription, now: Time) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO push_subscriptions
             (token_id, account_id, endpoint, p256dh, auth, standard, alerts, policy, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         ON CONFLICT (token_id) DO UPDATE
         SET endpoint = excluded.endpoint, p256dh = excluded.p256dh, auth = excluded.auth, standard = excluded.standard,
             alerts = excluded.alerts, policy = excluded.policy, failing_since = NULL, created_at = excluded.created_at"
    ))
    .bind(new.token_id)
    .bind(new.account_id)
    .bind(new.endpoint)
    .bind(new.p256dh)
    .bind(new.auth)
    .bind(new.standard)
    .bind(Json(new.alerts))
    .bind(new.policy)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// The subscription of `token`.
#[boxed]
pub async fn find_of_token(db: Conn<'_>, token: TokenId) -> Result<Option<Subscription>> {
    db.query(sql!("SELECT " subscription_columns!() " FROM push_subscriptions s WHERE s.token_id = $1"))
        .bind(token)
        .optional()
        .await
}

/// The subscription `number`, with the nonce that its token is derived from, unless the token is revoked.
#[boxed]
pub async fn find(db: Conn<'_>, number: i64) -> Result<Option<(Subscription, String)>> {
    let found: Option<WithNonce> = db
        .query(sql!(
            "SELECT " subscription_columns!() ", t.nonce
             FROM push_subscriptions s
             JOIN oauth_tokens t ON t.id = s.token_id AND t.revoked_at IS NULL
             WHERE s.number = $1"
        ))
        .bind(number)
        .optional()
        .await?;
    Ok(found.map(|found| (found.subscription, found.nonce)))
}

#[derive(model::Row)]
struct WithNonce {
    #[row(flatten)]
    subscription: Subscription,
    nonce: String,
}

/// Replaces the alerts and policy of the subscription of `token`; false when there is none.
#[boxed]
pub async fn update(tx: &mut Tx, token: TokenId, alerts: BTreeMap<String, bool>, policy: PushPolicy) -> Result<bool> {
    let updated = tx
        .query(sql!("UPDATE push_subscriptions SET alerts = $2, policy = $3 WHERE token_id = $1"))
        .bind(token)
        .bind(Json(alerts))
        .bind(policy)
        .execute()
        .await?;
    Ok(updated > 0)
}

/// Deletes the subscriptions of ended tokens.
#[boxed]
pub async fn delete_of_tokens(tx: &mut Tx, tokens: &[TokenId]) -> Result<u64> {
    if tokens.is_empty() {
        return Ok(0);
    }
    tx.query(sql!("DELETE FROM push_subscriptions WHERE token_id" in("$1")))
        .bind(Ids::of(tokens.iter().copied()))
        .execute()
        .await
}

/// Deletes the subscription `number`, if it still has this `endpoint`.
#[boxed]
pub async fn delete(tx: &mut Tx, number: i64, endpoint: &str) -> Result<u64> {
    tx.query(sql!("DELETE FROM push_subscriptions WHERE number = $1 AND endpoint = $2"))
        .bind(number)
        .bind(endpoint.to_owned())
        .execute()
        .await
}

/// Deletes every subscription; returns how many.
#[boxed]
pub async fn delete_all(tx: &mut Tx) -> Result<u64> {
    tx.query(sql!("DELETE FROM push_subscriptions WHERE TRUE")).execute().await
}

/// Records since when pushes to the subscription `number` fail; `None`: they succeed.
#[boxed]
pub async fn set_failing(tx: &mut Tx, number: i64, since: Option<Time>) -> Result<()> {
    tx.query(sql!("UPDATE push_subscriptions SET failing_since = $2 WHERE number = $1"))
        .bind(number)
        .bind(since)
        .execute()
        .await?;
    Ok(())
}

/// The alerts of a subscription.
#[derive(Clone, Debug, model::Row)]
pub struct Wanted {
    pub number: i64,
    pub account_id: AccountId,
    pub alerts: Json<BTreeMap<String, bool>>,
}

/// The alerts of the subscriptions of `accounts`.
#[boxed]
pub async fn list_wanted(db: Conn<'_>, accounts: &[AccountId]) -> Result<Vec<Wanted>> {
    db.query(sql!("SELECT number, account_id, alerts FROM push_subscriptions WHERE account_id" in("$1") "AND policy <> 'none'"))
        .bind(Ids::of(accounts.iter().copied()))
        .all()
        .await
}
