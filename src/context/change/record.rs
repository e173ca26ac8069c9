//! Recording changes: queues their follow-ups in the transaction of the change.

use super::kinds::{Change, Listener, listeners};
use super::push;
use crate::queue;
use crate::{Cx, Result};
use database::Tx;
use model::boxed;

/// Records `change` in the transaction that makes it.
#[boxed]
pub async fn record(cx: &Cx, tx: &mut Tx, change: Change) -> Result<()> {
    record_all(cx, tx, std::slice::from_ref(&change)).await
}

/// As [`record`], for several changes of one transaction: the outbox of extensions takes them in one statement.
#[boxed]
pub async fn record_all(cx: &Cx, tx: &mut Tx, changes: &[Change]) -> Result<()> {
    let (mut outbox, mut pushed, mut delivered) = (false, false, false);
    for change in changes {
        for listener in listeners(change.kind()) {
            match listener {
                Listener::Outbox => outbox = true,
                Listener::Push => pushed = true,
                Listener::Delivery => delivered = true,
                Listener::Stream => cx.live.tell_after(tx, change),
                Listener::Jobs => {
                    for job in change.jobs()? {
                        queue::enqueue_any(cx, tx, job).await?;
                    }
                }
            }
        }
    }
    if pushed {
        push::queue(cx, tx, changes).await?;
    }
    if delivered {
        cx.federation.record(cx, tx, changes).await?;
    }
    if outbox { cx.extensions().record(cx, tx, changes).await } else { Ok(()) }
}
