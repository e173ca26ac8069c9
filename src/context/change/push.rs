//! Queueing of web pushes for new notifications.

use std::collections::{BTreeSet, HashMap};

use super::kinds::{Change, CreatedNotification};
use crate::queue::{self, SendPush};
use crate::{Cx, Result};
use database::Tx;
use model::AccountId;

/// Queues a push for each notification among `changes` and each subscription that wants its type: one statement when its
/// receivers have no subscriptions, else two.
pub(crate) async fn queue(cx: &Cx, tx: &mut Tx, changes: &[Change]) -> Result<()> {
    let made: Vec<CreatedNotification> = changes.iter().flat_map(Change::pushed).collect();
    let receivers: BTreeSet<AccountId> = made.iter().map(|made| made.receiver).collect();
    let mut subscriptions: HashMap<AccountId, Vec<store::push::Wanted>> = HashMap::new();
    for wanted in store::push::list_wanted(&mut *tx, &Vec::from_iter(receivers)).await? {
        subscriptions.entry(wanted.account_id).or_default().push(wanted);
    }
    let mut jobs = Vec::new();
    for CreatedNotification { receiver, notification, kind } in &made {
        let wanting = subscriptions.get(receiver).into_iter().flatten();
        let wanting = wanting.filter(|wanted| wanted.alerts.0.get(kind) == Some(&true));
        jobs.extend(wanting.map(|wanted| SendPush { subscription: wanted.number, notification: *notification }));
    }
    if jobs.is_empty() { Ok(()) } else { queue::enqueue_all(cx, tx, &jobs).await }
}
