//! Who is connected, and who subscribed to what.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::ws::Utf8Bytes;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::connection::{Connection, End, Form, Owner};
use crate::event::Event;
use crate::people::People;
use crate::seats::{Seat, Seats};
use crate::topic::Topic;
use model::TokenId;
use rookery_core::Cx;
use store::versions::Versions;

/// The longest pause between one connection and the next, while the server stops.
const PAUSE: Duration = Duration::from_millis(5);
/// How often it is looked whether the last connection has ended, while the server stops.
const LOOK: Duration = Duration::from_millis(20);

/// The connections of this process.
#[derive(Debug)]
pub struct Hub {
    pub(crate) cx: Cx,
    pub(crate) people: People,
    seats: Arc<Seats>,
    next: AtomicU64,
    closing: AtomicBool,
    connections: Mutex<HashMap<u64, Arc<Connection>>>,
    topics: Mutex<HashMap<Topic, HashMap<u64, Subscriber>>>,
}

/// A connection that subscribed to a topic.
#[derive(Clone, Debug)]
pub(crate) struct Subscriber {
    pub(crate) connection: Arc<Connection>,
    /// The name of the channel, and its parameter: a JSON array.
    pub(crate) label: Arc<str>,
}

/// A connection that is open: it is forgotten when this is dropped.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) hub: Arc<Hub>,
    pub(crate) connection: Arc<Connection>,
    /// What it subscribed to.
    subscriptions: Mutex<Vec<Subscription>>,
    _seat: Seat,
}

/// What a connection subscribed to by one request.
#[derive(Debug)]
struct Subscription {
    id: u64,
    label: Arc<str>,
    topics: Vec<Topic>,
}

impl Hub {
    pub(crate) fn new(cx: Cx) -> Self {
        Self {
            cx,
            people: People::default(),
            seats: Arc::default(),
            next: AtomicU64::new(1),
            closing: AtomicBool::new(false),
            connections: Mutex::default(),
            topics: Mutex::default(),
        }
    }

    /// Lets `owner` in, who connects from `address`.
    ///
    /// # Errors
    /// Why not, for the client: a cap is reached, or the server stops.
    pub(crate) fn admit(
        self: &Arc<Self>,
        owner: Owner,
        address: IpAddr,
        form: Form,
    ) -> Result<(Guest, mpsc::Receiver<Utf8Bytes>), &'static str> {
        if self.closing.load(Ordering::Acquire) {
            return Err("The server restarts, try again in a moment");
        }
        let seat = self.seats.take(&self.cx, owner.account, address)?;
        let checked = self.cx.db.versions().map_or(0, Versions::now);
        let (connection, queue) = Connection::new(self.number(), owner, form, self.cx.config.streaming.queue, checked);
        let connection = Arc::new(connection);
        self.connections().insert(connection.id, Arc::clone(&connection));
        let guest = Guest { hub: Arc::clone(self), connection, subscriptions: Mutex::default(), _seat: seat };
        Ok((guest, queue))
    }

    /// How many connections are open.
    #[must_use]
    pub fn connected(&self) -> usize {
        self.seats.taken()
    }

    /// Ends every connection, each at another moment within `over`, and waits until all are gone. New ones are refused.
    pub async fn close(&self, over: Duration) {
        self.closing.store(true, Ordering::Release);
        let open: Vec<Arc<Connection>> = self.connections().values().cloned().collect();
        let pause = PAUSE.min(over / u32::try_from(open.len().max(1)).unwrap_or(u32::MAX));
        let mut next = Instant::now();
        // A map's order is by chance.
        for connection in open {
            tokio::time::sleep_until(next).await;
            connection.end(End::Restart);
            next += pause;
        }
        while self.connected() > 0 {
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Ends every connection for the reason `why`.
    pub(crate) fn end_all(&self, why: End) {
        self.connections().values().for_each(|connection| connection.end(why));
    }

    /// Ends the connections with this token.
    pub(crate) fn end_token(&self, token: TokenId) {
        let open = self.connections();
        open.values().filter(|open| open.owner.token == token).for_each(|open| open.end(End::Revoked));
    }

    /// Every connection.
    pub(crate) fn all(&self) -> Vec<Arc<Connection>> {
        self.connections().values().cloned().collect()
    }

    /// True when nobody is connected.
    pub(crate) fn is_empty(&self) -> bool {
        self.connections().is_empty()
    }

    /// True when anyone subscribed to `topic`.
    pub(crate) fn hears(&self, topic: &Topic) -> bool {
        self.topics().contains_key(topic)
    }

    /// Who subscribed to `topic`.
    pub(crate) fn subscribers(&self, topic: &Topic) -> Vec<Subscriber> {
        self.topics().get(topic).map(|of| of.values().cloned().collect()).unwrap_or_default()
    }

    /// The topics that somebody subscribed to, and `pick` accepts.
    pub(crate) fn topics_where(&self, pick: impl Fn(&Topic) -> bool) -> Vec<Topic> {
        self.topics().keys().filter(|topic| pick(topic)).cloned().collect()
    }

    /// Sends the event `name` to everyone who subscribed to `topic`.
    pub(crate) fn tell(&self, topic: &Topic, name: &str, payload: Option<&str>) {
        let mut event = Event::new(name, payload);
        for Subscriber { connection, label } in self.subscribers(topic) {
            event.send(&connection, &label);
        }
    }

    /// Ends the subscriptions to `topic`: by WebSocket the connection stays open, and is told.
    pub(crate) fn end_topic(&self, topic: &Topic) {
        let ended = self.topics().remove(topic).unwrap_or_default();
        let told: HashSet<u64> = ended.keys().copied().collect();
        for Subscriber { connection, label } in ended.into_values() {
            match connection.form {
                Form::EventSource => connection.end(End::Gone),
                Form::WebSocket => {
                    let error = format!("{{\"error\":\"This stream has ended\",\"status\":404,\"stream\":{label}}}");
                    connection.send(error.into());
                }
            }
        }
        tracing::debug!(ended = told.len(), "a stream ended");
    }

    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    fn connections(&self) -> MutexGuard<'_, HashMap<u64, Arc<Connection>>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn topics(&self) -> MutexGuard<'_, HashMap<Topic, HashMap<u64, Subscriber>>> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guest {
    /// Subscribes to `topics` under `label`; does nothing when it is subscribed so already.
    ///
    /// # Errors
    /// When it has as many subscriptions as a connection may.
    pub(crate) fn subscribe(&self, label: Arc<str>, topics: Vec<Topic>) -> Result<(), &'static str> {
        let mut own = self.own();
        if own.iter().any(|subscription| subscription.label == label) {
            return Ok(());
        }
        if own.len() >= self.hub.cx.config.streaming.max_subscriptions {
            return Err("This connection has too many subscriptions");
        }
        let id = self.hub.number();
        let mut heard = self.hub.topics();
        for topic in &topics {
            let subscriber = Subscriber { connection: Arc::clone(&self.connection), label: Arc::clone(&label) };
            heard.entry(topic.clone()).or_default().insert(id, subscriber);
        }
        own.push(Subscription { id, label, topics });
        Ok(())
    }

    /// Ends the subscription under `label`, if there is one.
    pub(crate) fn unsubscribe(&self, label: &str) {
        let mut own = self.own();
        if let Some(index) = own.iter().position(|subscription| &*subscription.label == label) {
            self.hub.forget(&own.swap_remove(index));
        }
    }

    fn own(&self) -> MutexGuard<'_, Vec<Subscription>> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hub {
    fn forget(&self, subscription: &Subscription) {
        let mut heard = self.topics();
        for topic in &subscription.topics {
            if let Some(of) = heard.get_mut(topic) {
                of.remove(&subscription.id);
                if of.is_empty() {
                    heard.remove(topic);
                }
            }
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        for subscription in std::mem::take(&mut *self.own()) {
            self.hub.forget(&subscription);
        }
        self.hub.connections().remove(&self.connection.id);
        self.hub.people.forget(self.connection.owner.account);
    }
}
