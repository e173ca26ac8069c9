//! Distributes changes between nodes, on PostgreSQL: an event on one node reaches the connections of all nodes.
//!
//! A node writes its committed changes in batches, numbered from 1, and notifies the other nodes, which read the
//! batches that they do not have yet. So nothing is delivered twice, and a node whose connection was lost catches up.
//! If batches were deleted meanwhile, the node closes its connections so that clients refetch. A node that is alone
//! writes nothing.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::Hub;
use crate::connection::End;
use context::change::Change;
use context::{Cx, Error, Result};
use database::notify::{self, Listener};
use model::Time;

/// How often a node renews its registration and looks for batches that it may have missed.
const INTERVAL: Duration = Duration::from_secs(5);
/// How long other nodes write batches for a node that does not renew its registration.
const PATIENCE: TimeDelta = TimeDelta::seconds(30);
/// How much earlier a node considers itself to have been away, since clocks differ.
const SLACK: TimeDelta = TimeDelta::seconds(10);
/// How long batches are kept.
const KEPT: TimeDelta = TimeDelta::minutes(5);
/// Pause before a retry when the database does not respond.
const RETRY: Duration = Duration::from_secs(1);
/// Most changes of a batch.
const BATCH: usize = 256;
/// The notification of a node that starts to listen.
const HELLO: &str = "hello";

struct Bus {
    hub: Arc<Hub>,
    own: Receiver<Arc<Change>>,
    listener: Listener,
    /// The name of this node, as other nodes know it.
    node: String,
    /// The number of its last batch.
    number: i64,
    /// The last batch read from each other node.
    read: HashMap<String, i64>,
    /// When this node last renewed its registration.
    noted: Time,
    /// Whether other nodes listen.
    has_others: bool,
    ticks: Interval,
}

/// Runs until it is aborted. Returns immediately on SQLite.
pub(crate) async fn run(hub: Arc<Hub>, own: Receiver<Arc<Change>>) {
    let mut own = Some(own);
    loop {
        let receiver = own.take().unwrap_or_else(|| hub.cx.live.subscribe_own());
        match Bus::open(&hub, receiver).await {
            Ok(None) => return,
            Ok(Some(mut bus)) => {
                let Err(error) = bus.work().await;
                context::log_failure!(error, "lost the connection to other nodes: closing streams so clients refetch");
                hub.end_all(End::Missed);
            }
            Err(error) => context::log_failure!(error, "could not connect to other nodes yet"),
        }
        tokio::time::sleep(RETRY).await;
    }
}

impl Bus {
    async fn open(hub: &Arc<Hub>, own: Receiver<Arc<Change>>) -> Result<Option<Self>> {
        let cx = &hub.cx;
        let Some(listener) = Listener::open(&cx.db).await? else { return Ok(None) };
        // Earlier batches do not concern any connection of this node.
        let read = store::node_change::last(&cx.db).await?.into_iter().collect();
        let mut ticks = interval(INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let node = crypto::random_text(12);
        let mut tx = cx.db.begin().await?;
        let noted = cx.clock.now();
        store::node_change::note(&mut tx, &node, noted).await?;
        notify::send(&mut tx, HELLO).await?;
        tx.commit().await?;
        let has_others = others(cx, &node).await?;
        Ok(Some(Self { hub: Arc::clone(hub), own, listener, node, number: 0, read, noted, has_others, ticks }))
    }

    /// Sends and receives changes until something fails.
    async fn work(&mut self) -> Result<std::convert::Infallible> {
        loop {
            tokio::select! {
                change = self.own.recv() => self.write(change).await?,
                message = self.listener.next() => self.hear(message?).await?,
                _ = self.ticks.tick() => self.maintain().await?,
            }
        }
    }

    /// Writes a batch: `first` and the changes that are queued behind it.
    async fn write(&mut self, first: Result<Arc<Change>, RecvError>) -> Result<()> {
        let mut changes = Vec::new();
        let mut lost = match first {
            Ok(change) => {
                changes.push(change);
                false
            }
            Err(RecvError::Lagged(_)) => true,
            Err(RecvError::Closed) => return Err(Error::internal("the server stops")),
        };
        while changes.len() < BATCH {
            match self.own.try_recv() {
                Ok(change) => changes.push(change),
                Err(TryRecvError::Lagged(_)) => lost = true,
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        if !self.has_others {
            return Ok(());
        }
        let changes: Vec<&Change> = changes.iter().map(AsRef::as_ref).collect();
        let changes =
            if lost { "null".to_owned() } else { serde_json::to_string(&changes).map_err(Error::internal)? };
        let cx = &self.hub.cx;
        let mut tx = cx.db.begin().await?;
        store::node_change::insert(&mut tx, &self.node, self.number + 1, changes, cx.clock.now()).await?;
        notify::send(&mut tx, &self.node).await?;
        tx.commit().await?;
        self.number += 1;
        Ok(())
    }

    /// Handles a notification, and reads the batches of the node that sent it.
    async fn hear(&mut self, notified: Option<String>) -> Result<()> {
        match notified {
            Some(node) if node == self.node => Ok(()),
            Some(hello) if hello == HELLO => {
                self.has_others = others(&self.hub.cx, &self.node).await?;
                Ok(())
            }
            Some(text) => match text.strip_prefix(notify::JOBS) {
                Some(lane) => {
                    // A node of another version may have lanes that this one does not know.
                    lane.parse().into_iter().for_each(|lane| self.hub.cx.db.wake_workers(lane));
                    Ok(())
                }
                None => self.catch_up(&text).await,
            },
            None => self.catch_up_with_all().await,
        }
    }

    async fn catch_up_with_all(&mut self) -> Result<()> {
        for (node, _) in store::node_change::last(&self.hub.cx.db).await? {
            if node != self.node {
                self.catch_up(&node).await?;
            }
        }
        Ok(())
    }

    /// Publishes the batches of `node` that were not read yet.
    async fn catch_up(&mut self, node: &str) -> Result<()> {
        let mut last = self.read.get(node).copied().unwrap_or_default();
        for (number, changes) in store::node_change::list(&self.hub.cx.db, node, last).await? {
            let changes: Option<Vec<Change>> = serde_json::from_str(&changes).unwrap_or_else(|error| {
                // A node of another version may write kinds of changes that this one does not know.
                tracing::debug!(%error, "could not parse a change of another node");
                None
            });
            match changes {
                Some(changes) if number == last + 1 => {
                    changes.into_iter().for_each(|change| self.hub.cx.live.tell_from_elsewhere(change));
                }
                Some(_) | None => self.hub.end_all(End::Missed),
            }
            last = number;
        }
        self.read.insert(node.to_owned(), last);
        Ok(())
    }

    /// Renews the registration of this node, checks whether other nodes listen, and deletes old batches. A node that
    /// was silent so long that others may have stopped writing for it must assume that it missed changes.
    async fn maintain(&mut self) -> Result<()> {
        let (cx, now) = (&self.hub.cx, self.hub.cx.clock.now());
        if std::mem::replace(&mut self.noted, now) + PATIENCE - SLACK < now {
            tracing::warn!("this node was away for long: closing its streams so that clients refetch");
            self.hub.end_all(End::Missed);
        }
        let mut tx = cx.db.begin().await?;
        store::node_change::note(&mut tx, &self.node, now).await?;
        store::node_change::delete_before(&mut tx, now - KEPT).await?;
        tx.commit().await?;
        self.has_others = others(cx, &self.node).await?;
        self.catch_up_with_all().await
    }
}

async fn others(cx: &Cx, node: &str) -> Result<bool> {
    Ok(store::node_change::has_others(&cx.db, node, cx.clock.now() - PATIENCE).await?)
}
