//! Notifications that plugins may veto: queued as pending in the transaction of the cause. A job calls the plugins
//! while no transaction is open, and creates the permitted ones in another transaction.

use std::collections::{BTreeMap, HashSet};

use super::notify::{insert, proper};
use crate::conversation;
use context::error::Result;
use context::extension::{Judgement, Notice};
use context::queue::{self, JudgeNotices};
use context::{Cx, Origin, job};
use database::Tx;
use model::{AccountId, NotificationType, StatusId};
use store::notification::make::NewNotification;
use store::notification::waiting::{self, NoticeRow};

/// Most notices sent to plugins in one call.
const BATCH: i64 = 256;

/// Stores notices as pending and queues the job that sends them to plugins.
pub(super) async fn put_off(cx: &Cx, tx: &mut Tx, notices: Vec<&Notice>) -> Result<()> {
    if notices.is_empty() {
        return Ok(());
    }
    let origin = cx.origin().to_json();
    let row = |notice: &Notice| NoticeRow {
        id: cx.ids.next(),
        receiver: notice.receiver,
        sender: notice.from,
        kind: notice.kind.clone(),
        activity: notice.activity,
        status: notice.status,
        origin: origin.clone(),
    };
    waiting::insert(tx, notices.into_iter().map(row).collect()).await?;
    queue::enqueue(cx, tx, &JudgeNotices {}).await
}

/// Sends all pending notices to plugins, in batches, and creates notifications for the notices that no plugin drops.
///
/// # Errors
/// Notices that were not processed stay pending.
#[model::use_case]
#[job]
async fn judge_waiting(cx: &Cx, _: JudgeNotices) -> Result<()> {
    loop {
        let rows = waiting::first(&cx.db, BATCH).await?;
        if rows.is_empty() {
            return Ok(());
        }
        let (ids, asked): (Vec<i64>, Vec<(Notice, Origin)>) = rows.into_iter().map(notice).unzip();
        let judgements = cx.extensions().judge(cx, &asked).await;
        let judged = ids.into_iter().zip(asked).zip(judgements);
        let judged = judged.map(|((id, (notice, _)), judgement)| (id, notice, judgement)).collect();
        create(cx, judged).await?;
    }
}

fn notice(row: NoticeRow) -> (i64, (Notice, Origin)) {
    let notice =
        Notice { receiver: row.receiver, from: row.sender, kind: row.kind, activity: row.activity, status: row.status };
    (row.id, (notice, Origin::from_json(row.origin.as_deref())))
}

/// Creates notifications for notices that are still pending, and skips notices that were undone meanwhile or handled
/// by another node.
async fn create(cx: &Cx, mut judged: Vec<(i64, Notice, Judgement)>) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let ids: Vec<i64> = judged.iter().map(|(id, ..)| *id).collect();
    let taken = waiting::take(&mut tx, &ids).await?;
    let taken: HashSet<i64> = taken.into_iter().collect();
    judged.retain(|(id, _, judgement)| taken.contains(id) && *judgement != Judgement::Drop);
    let notices: Vec<Notice> = judged.iter().map(|(_, notice, _)| notice.clone()).collect();
    let proper = proper(cx, &mut tx, &notices).await?;
    let new =
        proper.into_iter().map(|(place, row)| NewNotification { silent: judged[place].2 == Judgement::Silent, ..row });
    insert(cx, &mut tx, new.collect()).await?;
    for (status, receivers) in mentioning(&notices) {
        conversation::receive_late(cx, &mut tx, status, &receivers).await?;
    }
    Ok(tx.commit().await?)
}

/// The statuses of mention notices, with the accounts that they mention.
fn mentioning(notices: &[Notice]) -> BTreeMap<StatusId, Vec<AccountId>> {
    let mut statuses: BTreeMap<StatusId, Vec<AccountId>> = BTreeMap::new();
    for notice in notices.iter().filter(|notice| notice.kind.core() == Some(NotificationType::Mention)) {
        if let Some(status) = notice.status {
            statuses.entry(status).or_default().push(notice.receiver);
        }
    }
    statuses
}
