//! The connections and their subscriptions.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::ws::Utf8Bytes;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::channel::{Grant, Opened, Wanted};
use crate::connection::{Connection, End, Form, Owner};
use crate::connection_limits::{Seat, Seats};
use crate::event::{Event, quote};
use crate::topic::Topic;
use context::Cx;
use database::versions::Versions;
use model::TokenId;

/// The longest pause between closing two connections while the server stops.
const PAUSE: Duration = Duration::from_millis(5);
/// How often the hub checks whether the last connection has ended, while the server stops.
const LOOK: Duration = Duration::from_millis(20);

/// The connections of this process.
#[derive(Debug)]
pub struct Hub {
    pub(crate) cx: Cx,
    seats: Arc<Seats>,
    next: AtomicU64,
    closing: AtomicBool,
    connections: Mutex<HashMap<u64, Arc<Connection>>>,
    subscriptions: Mutex<Subscriptions>,
}

/// The subscribers of each topic, by the number of the subscription.
#[derive(Debug, Default)]
struct Subscriptions {
    topics: HashMap<Topic, HashMap<u64, Subscriber>>,
    /// Subscriptions to channels of extensions.
    granted: HashMap<u64, Granted>,
}

/// A connection that subscribed to a topic.
#[derive(Clone, Debug)]
pub(crate) struct Subscriber {
    pub(crate) connection: Arc<Connection>,
    /// The name of the channel, and its parameter: a JSON array.
    pub(crate) label: Arc<str>,
}

/// An open connection, removed from the hub when dropped.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) hub: Arc<Hub>,
    pub(crate) connection: Arc<Connection>,
    /// Its subscriptions.
    subscriptions: Mutex<Vec<Subscription>>,
    _seat: Seat,
}

/// A subscription to a channel of an extension. It is requested again when another generation serves the channel.
#[derive(Debug)]
struct Granted {
    subscriber: Subscriber,
    grant: Grant,
    topics: Vec<Topic>,
    /// Failed attempts to request it again.
    failures: u32,
}

/// A subscription that must be requested again.
#[derive(Debug)]
pub(crate) struct Outdated {
    pub(crate) id: u64,
    pub(crate) owner: Owner,
    pub(crate) wanted: Arc<Wanted>,
    /// Whether an extension serves its channel.
    pub(crate) is_served: bool,
}

/// The subscription of a connection to one channel.
#[derive(Debug)]
struct Subscription {
    id: u64,
    label: Arc<str>,
    /// Empty for a channel of an extension: those topics are in [`Subscriptions::granted`], since they can change.
    topics: Vec<Topic>,
}

impl Hub {
    pub(crate) fn new(cx: Cx) -> Self {
        Self {
            cx,
            seats: Arc::default(),
            next: AtomicU64::new(1),
            closing: AtomicBool::new(false),
            connections: Mutex::default(),
            subscriptions: Mutex::default(),
        }
    }

    /// Admits a connection of `owner` from `address`.
    ///
    /// # Errors
    /// The message for the client: a limit is reached, or the server stops.
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

    /// Ends every connection, each at another moment within `over`, and waits until all have ended. Refuses new ones.
    pub async fn close(&self, over: Duration) {
        self.closing.store(true, Ordering::Release);
        let open: Vec<Arc<Connection>> = self.connections().values().cloned().collect();
        let pause = PAUSE.min(over / u32::try_from(open.len().max(1)).unwrap_or(u32::MAX));
        let mut next = Instant::now();
        // The order of a map is random.
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
        for connection in self.connections().values() {
            connection.end(why);
        }
    }

    /// Ends the connections with this token.
    pub(crate) fn end_token(&self, token: TokenId) {
        let open = self.connections();
        for connection in open.values().filter(|open| open.owner.token == token) {
            connection.end(End::Revoked);
        }
    }

    pub(crate) fn all(&self) -> Vec<Arc<Connection>> {
        self.connections().values().cloned().collect()
    }

    /// True when there are no connections.
    pub(crate) fn is_empty(&self) -> bool {
        self.connections().is_empty()
    }

    /// True when a connection is subscribed to `topic`.
    pub(crate) fn hears(&self, topic: &Topic) -> bool {
        self.subscriptions().topics.contains_key(topic)
    }

    /// The subscribers of `topic`.
    pub(crate) fn subscribers(&self, topic: &Topic) -> Vec<Subscriber> {
        self.subscriptions().topics.get(topic).map(|of| of.values().cloned().collect()).unwrap_or_default()
    }

    /// The topics with subscribers that `pick` accepts.
    pub(crate) fn topics_where(&self, pick: impl Fn(&Topic) -> bool) -> Vec<Topic> {
        self.subscriptions().topics.keys().filter(|topic| pick(topic)).cloned().collect()
    }

    /// Sends the event `name` to all subscribers of `topic`.
    pub(crate) fn publish(&self, topic: &Topic, name: &str, payload: Option<&str>) {
        let mut event = Event::new(name, payload);
        for Subscriber { connection, label } in self.subscribers(topic) {
            event.send(&connection, &label);
        }
    }

    /// Ends the subscriptions to `topic`. Server-sent event connections are closed; WebSocket connections stay open.
    pub(crate) fn end_topic(&self, topic: &Topic) {
        let ended = self.subscriptions().end_topic(topic);
        // By WebSocket no message is sent: client libraries take a message with `error` for the end of all
        // subscriptions, and the client that deleted a list knows.
        for subscriber in ended.values().filter(|subscriber| subscriber.connection.form == Form::EventSource) {
            subscriber.connection.end(End::Gone);
        }
        tracing::debug!(ended = ended.len(), "a stream ended");
    }

    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    fn connections(&self) -> MutexGuard<'_, HashMap<u64, Arc<Connection>>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn subscriptions(&self) -> MutexGuard<'_, Subscriptions> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guest {
    /// Adds a subscription to `opened`, unless there is one with its label already.
    ///
    /// # Errors
    /// When the connection has the maximum number of subscriptions.
    pub(crate) fn subscribe(&self, opened: Opened) -> Result<(), &'static str> {
        let Opened { label, topics, grant } = opened;
        let mut own = self.own();
        let mut subscriptions = self.hub.subscriptions();
        // Subscriptions that have ended do not count.
        own.retain(|subscription| subscriptions.has(subscription));
        if own.iter().any(|subscription| subscription.label == label) {
            return Ok(());
        }
        if own.len() >= self.hub.cx.config.streaming.max_subscriptions {
            return Err("This connection has too many subscriptions");
        }
        let id = self.hub.number();
        let subscriber = Subscriber { connection: Arc::clone(&self.connection), label: Arc::clone(&label) };
        subscriptions.insert(id, &subscriber, &topics);
        let topics = match grant {
            None => topics,
            Some(grant) => {
                subscriptions.granted.insert(id, Granted { subscriber, grant, topics, failures: 0 });
                Vec::new()
            }
        };
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
        let mut subscriptions = self.subscriptions();
        subscriptions.remove(subscription.id, &subscription.topics);
        subscriptions.end_granted(subscription.id);
    }

    /// The subscriptions to channels of extensions whose current generation, returned by `serves` for the name of the
    /// channel, is another one or none.
    pub(crate) fn outdated(&self, serves: impl Fn(&str) -> Option<u64>) -> Vec<Outdated> {
        let subscriptions = self.subscriptions();
        let outdated = subscriptions.granted.iter().filter_map(|(id, granted)| {
            let generation = serves(&granted.grant.wanted.name);
            (generation != Some(granted.grant.generation)).then(|| Outdated {
                id: *id,
                owner: granted.subscriber.connection.owner.clone(),
                wanted: Arc::clone(&granted.grant.wanted),
                is_served: generation.is_some(),
            })
        });
        outdated.collect()
    }

    /// Replaces the topics of the subscription `id` by the topics that the current generation `opened`, if it still
    /// exists.
    pub(crate) fn renew(&self, id: u64, opened: Opened) {
        let mut subscriptions = self.subscriptions();
        let (Some(mut granted), Some(grant)) = (subscriptions.end_granted(id), opened.grant) else { return };
        subscriptions.insert(id, &granted.subscriber, &opened.topics);
        (granted.grant, granted.topics, granted.failures) = (grant, opened.topics, 0);
        subscriptions.granted.insert(id, granted);
    }

    /// Counts another failed attempt to renew the subscription `id`. Returns the number of failures.
    pub(crate) fn count_failure(&self, id: u64) -> u32 {
        self.subscriptions().granted.get_mut(&id).map_or(0, |granted| {
            granted.failures += 1;
            granted.failures
        })
    }

    /// Ends the subscription `id` to a channel of an extension. A WebSocket client receives the HTTP `status` and the
    /// `text`; a connection for server-sent events ends with the reason `why`.
    pub(crate) fn end_subscription(&self, id: u64, why: End, status: u16, text: &str) {
        let ended = self.subscriptions().end_granted(id);
        if let Some(granted) = ended {
            granted.subscriber.tell_end(why, status, text);
        }
    }
}

impl Subscriptions {
    fn insert(&mut self, id: u64, subscriber: &Subscriber, topics: &[Topic]) {
        for topic in topics {
            self.topics.entry(topic.clone()).or_default().insert(id, subscriber.clone());
        }
    }

    fn remove(&mut self, id: u64, topics: &[Topic]) {
        for topic in topics {
            if let Some(of) = self.topics.get_mut(topic) {
                of.remove(&id);
                if of.is_empty() {
                    self.topics.remove(topic);
                }
            }
        }
    }

    /// Removes a subscription to a channel of an extension's.
    fn end_granted(&mut self, id: u64) -> Option<Granted> {
        let granted = self.granted.remove(&id)?;
        self.remove(id, &granted.topics);
        Some(granted)
    }

    /// Removes a topic, and the subscriptions that show nothing else.
    fn end_topic(&mut self, topic: &Topic) -> HashMap<u64, Subscriber> {
        let ended = self.topics.remove(topic).unwrap_or_default();
        for id in ended.keys() {
            if let Some(granted) = self.granted.get_mut(id) {
                granted.topics.retain(|other| other != topic);
                if granted.topics.is_empty() {
                    self.granted.remove(id);
                }
            }
        }
        ended
    }

    /// True unless the subscription has ended.
    fn has(&self, Subscription { id, topics, .. }: &Subscription) -> bool {
        let hears = |topic| self.topics.get(topic).is_some_and(|of| of.contains_key(id));
        self.granted.contains_key(id) || topics.iter().any(hears)
    }
}

impl Subscriber {
    /// Notifies the client of the end of a subscription. A WebSocket stays open.
    fn tell_end(&self, why: End, status: u16, text: &str) {
        match self.connection.form {
            Form::EventSource => {
                self.connection.end(why);
            }
            Form::WebSocket => {
                let (text, label) = (quote(text), &self.label);
                let error = format!("{{\"error\":{text},\"status\":{status},\"stream\":{label}}}");
                self.connection.send(error.into());
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
    }
}
