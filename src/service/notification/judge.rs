//! Notices in whose making plugins have a say: they wait in the transaction of what happened, a job asks about them with no
//! transaction open, and what the plugins let pass is told in another one.

use std::collections::HashSet;

use super::notify::{Notice, Notified, insert, proper};
use crate::app::App;
use crate::error::Result;
use crate::jobs;
use crate::jobs::judge_notices::JudgeNotices;
use crate::plugins::hooks::{self, Judgement};
use crate::plugins::origin::Origin;
use store::Tx;
use store::notification::make::New;
use store::notification::waiting::{self, Waiting};

/// Most notices that plugins are asked about at once.
const BATCH: i64 = 256;

/// Lets notices wait.
///
/// # Errors
/// When the database does.
pub(super) async fn put_off(app: &App, tx: &mut Tx, notices: Vec<&Notice>) -> Result<()> {
    if notices.is_empty() {
        return Ok(());
    }
    let origin = Origin::current().to_json();
    let row = |notice: &Notice| Waiting {
        id: app.ids.next(),
        receiver: notice.receiver,
        sender: notice.from,
        kind: notice.kind.clone(),
        activity: notice.activity,
        status: notice.status,
        origin: origin.clone(),
    };
    waiting::insert(tx, notices.into_iter().map(row).collect()).await?;
    jobs::enqueue(app, tx, &JudgeNotices {}).await
}

/// Asks plugins about all notices that wait, a batch at a time, and tells those that none of them objects to.
///
/// # Errors
/// When the database does; what was not told waits on.
pub async fn judge_waiting(app: &App) -> Result<()> {
    loop {
        let rows = waiting::first(&app.db, BATCH).await?;
        if rows.is_empty() {
            return Ok(());
        }
        let (ids, asked): (Vec<i64>, Vec<(Notice, Origin)>) = rows.into_iter().map(notice).unzip();
        let judgements = hooks::judge(app, &asked).await;
        let judged = ids.into_iter().zip(asked).zip(judgements);
        let judged = judged.map(|((id, (notice, _)), judgement)| (id, notice, judgement)).collect();
        tell(app, judged).await?.publish(app);
    }
}

fn notice(row: Waiting) -> (i64, (Notice, Origin)) {
    let notice =
        Notice { receiver: row.receiver, from: row.sender, kind: row.kind, activity: row.activity, status: row.status };
    (row.id, (notice, Origin::from_json(row.origin.as_deref())))
}

/// Makes notifications of those that wait still: not of what was undone meanwhile, nor of what another node dealt with.
async fn tell(app: &App, mut judged: Vec<(i64, Notice, Judgement)>) -> Result<Notified> {
    let mut tx = app.db.begin().await?;
    let taken = waiting::take(&mut tx, judged.iter().map(|(id, ..)| *id)).await?;
    let taken: HashSet<i64> = taken.into_iter().collect();
    judged.retain(|(id, _, judgement)| taken.contains(id) && *judgement != Judgement::Drop);
    let notices: Vec<Notice> = judged.iter().map(|(_, notice, _)| notice.clone()).collect();
    let proper = proper(app, &mut tx, &notices).await?;
    let new = proper.into_iter().map(|(place, row)| New { silent: judged[place].2 == Judgement::Silent, ..row });
    let notified = insert(app, &mut tx, new.collect()).await?;
    tx.commit().await?;
    Ok(notified)
}
