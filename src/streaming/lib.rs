//! Streams of events to connected clients, by WebSocket and by server-sent events.
//!
//! [`start`] makes the [`Hub`], which knows who is connected and to what they subscribed, and the tasks that feed it: one
//! reads the core's change log and tells whom it concerns ([`dispatch`]), one closes what may not stay open
//! ([`keeper`]), one asks plugins again after they were replaced ([`renewal`]), and one hears of other nodes ([`bus`]). [`routes()`] are the ways in. A connection is one task with a queue; who takes too slowly is cut off and
//! never waited for.
//!
//! Not here: who may see a status (`service::visibility`), how it looks (`entity`), and what happened (`change`). Events are
//! hints: whoever missed some reads again.
//!
//! Spec: docs/contract/streaming.md. Design: docs/architecture.md#5-changes-jobs-streaming.

mod bus;
mod channel;
mod connection;
mod dispatch;
mod event;
mod hub;
mod keeper;
mod renewal;
mod routes;
mod seats;
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
    /// Who is connected.
    pub hub: Arc<Hub>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

/// Begins to listen to changes of this node and the others.
#[must_use]
pub fn start(cx: &Cx) -> Streaming {
    let streaming = start_alone(cx);
    streaming.hear_others();
    streaming
}

/// Begins to listen to changes of this node alone. On PostgreSQL hearing the others costs statements, which tests that
/// count them do not want.
#[must_use]
pub fn start_alone(cx: &Cx) -> Streaming {
    let hub = Arc::new(Hub::new(cx.clone()));
    // Subscribed before anyone connects, so that no change is missed.
    let changes = cx.live.subscribe();
    let tasks = vec![
        tokio::spawn(dispatch::run(Arc::clone(&hub), changes)),
        tokio::spawn(keeper::run(Arc::clone(&hub))),
        tokio::spawn(renewal::run(Arc::clone(&hub))),
    ];
    Streaming { hub, tasks: Mutex::new(tasks) }
}

impl Streaming {
    /// Begins to tell the other nodes what happens here, and to hear them.
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
