//! The number that this process puts into the ids it makes: leased from the database, so that no two processes make the same.
//!
//! [`Cx::open`] takes one, and reads the highest id so far, below which none is made even when the clock was set back;
//! a server renews the lease ([`keep`]), and [`Cx::close`] gives it back. A process that ends without that leaves its number
//! to expire. Where all numbers are in use, the one that was renewed longest ago is taken from its holder, which then takes
//! another.

use std::time::Duration;

use chrono::TimeDelta;

use crate::{Cx, Result};
use model::Time;
use model::clock::{Clock, Ids, NODES};
use store::Db;

/// How long a number is leased.
const LEASE: TimeDelta = TimeDelta::minutes(5);
/// How often the lease is renewed.
const INTERVAL: Duration = Duration::from_secs(75);

/// This process as the holder of a number.
#[derive(Debug)]
pub struct Node {
    holder: String,
}

/// Takes a number and makes the generator of ids with it.
pub(crate) async fn open(db: &Db, clock: &Clock) -> Result<(Node, Ids)> {
    let node = Node { holder: crypto::random_text(12) };
    let number = take(db, clock, &node).await?;
    let floor = store::node::highest_id(db).await?;
    Ok((node, Ids::new(clock.clone(), number, floor)))
}

async fn take(db: &Db, clock: &Clock, node: &Node) -> Result<i64> {
    let now = clock.now();
    let mut tx = db.begin().await?;
    let (number, free_since) = store::node::take(&mut tx, &node.holder, now + LEASE).await?;
    tx.commit().await?;
    if free_since > now {
        tracing::warn!("more than {NODES} processes use this database: ids may collide until some of them end");
    }
    Ok(number)
}

/// Renews the lease until it is aborted, and takes another number when it was lost.
pub async fn keep(cx: Cx) {
    loop {
        tokio::time::sleep(INTERVAL).await;
        if let Err(error) = renew(&cx).await {
            tracing::warn!(%error, "could not renew the lease of this process's number for ids");
        }
    }
}

/// Renews the lease once, or takes another number.
pub async fn renew(cx: &Cx) -> Result<()> {
    if !set_lease(cx, cx.clock.now() + LEASE).await? {
        cx.ids.move_to(take(&cx.db, &cx.clock, &cx.node).await?);
    }
    Ok(())
}

/// Gives the number back.
pub(crate) async fn release(cx: &Cx) -> Result<()> {
    set_lease(cx, Time::from_micros(0)).await.map(drop)
}

async fn set_lease(cx: &Cx, lease_until: Time) -> Result<bool> {
    let mut tx = cx.db.begin().await?;
    let held = store::node::renew(&mut tx, &cx.node.holder, cx.ids.last(), lease_until).await?;
    tx.commit().await?;
    Ok(held)
}
