//! Streams of events to connected clients, by WebSocket and by server-sent events.
//!
//! [`start`] creates the [`Hub`], which holds the connections and their subscriptions, and the tasks that feed it:
//! one reads the core's change log and sends each change to the connections that it concerns ([`dispatch`]), one
//! closes connections that may not stay open ([`revocation`]), one renews subscriptions after plugins were replaced
//! ([`renewal`]), and one receives changes of other nodes ([`bus`]). [`routes()`] are the endpoints. A connection is
//! one task with a queue; slow consumers are disconnected.
//!
//! Not here: the visibility of statuses (`service::visibility`), their rendering (`entity`), and the change log
//! (`change`). Events are hints: a client that missed some refetches.
//!
//! Spec: docs/contract/streaming.md. Design: docs/architecture.md#5-changes-jobs-streaming.

mod bus;
mod channel;
mod connection;
mod connection_limits;
mod dispatch;
mod event;
mod hub;
mod renewal;
mod revocation;
mod routes;
mod sse;
mod topic;
mod websocket;

use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::JoinHandle;

pub use hub::Hub;
pub use routes::routes;

use context::Cx;

/// The streams of a running server.
#[derive(Debug)]
pub struct Streaming {
    /// The connections.
    pub hub: Arc<Hub>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

/// Starts to listen to changes of this node and the others.
#[must_use]
pub fn start(cx: &Cx) -> Streaming {
    let streaming = start_alone(cx);
    streaming.hear_others();
    streaming
}

/// Starts to listen to changes of this node alone. On PostgreSQL listening to other nodes costs statements, which
/// disturbs tests that count statements.
#[must_use]
pub fn start_alone(cx: &Cx) -> Streaming {
    let hub = Arc::new(Hub::new(cx.clone()));
    // Subscribed before anyone connects, so that no change is missed.
    let changes = cx.live.subscribe();
    let tasks = vec![
        tokio::spawn(dispatch::run(Arc::clone(&hub), changes)),
        tokio::spawn(revocation::run(Arc::clone(&hub))),
        tokio::spawn(renewal::run(Arc::clone(&hub))),
    ];
    Streaming { hub, tasks: Mutex::new(tasks) }
}

impl Streaming {
    /// Starts to exchange changes with the other nodes.
    pub fn hear_others(&self) {
        let own = self.hub.cx.live.subscribe_own();
        let bus = tokio::spawn(bus::run(Arc::clone(&self.hub), own));
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).push(bus);
    }
}

impl Drop for Streaming {
    fn drop(&mut self) {
        let tasks = self.tasks.get_mut().unwrap_or_else(PoisonError::into_inner);
        tasks.iter().for_each(JoinHandle::abort);
    }
}
