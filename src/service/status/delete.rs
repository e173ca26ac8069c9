//! Deleting a status, and with it its reblogs, marks, notifications and feed entries.

use crate::app::App;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::plugins::hooks::{self, Change, Kind};
use crate::service::media;
use model::status::Visibility;
use model::{AccountId, Actor, Status, StatusId};
use store::Tx;

/// Deletes `actor`'s own status or reblog.
///
/// # Errors
/// [`Error::NotFound`] unless it is their own.
pub async fn delete(app: &App, actor: &Actor, id: StatusId) -> Result<()> {
    let mut tx = app.db.begin().await?;
    remove(app, &mut tx, actor.id, id).await?;
    tx.commit().await?;
    app.events.publish(Event::StatusDeleted { status: id, author: actor.id });
    Ok(())
}

/// Deletes a status of `author` in `tx` and takes it from every count.
///
/// # Errors
/// As [`delete`].
pub(crate) async fn remove(app: &App, tx: &mut Tx, author: AccountId, id: StatusId) -> Result<()> {
    let status = store::status::find(&mut *tx, id).await?;
    let status = status.filter(|status| status.account_id == author).ok_or(Error::NotFound)?;
    store::tag::clear_for_status(tx, id, author).await?;
    store::publish::uncount_reblogs_of(tx, id).await?;
    if status.visibility != Visibility::Direct {
        store::publish::count_for_author(tx, author, -1, None).await?;
    }
    if let Some(parent) = status.in_reply_to_id
        && status.visibility.is_anonymous()
    {
        store::status::add_counts(tx, parent, -1, 0, 0).await?;
    }
    if let Some(original) = status.reblog_of_id {
        store::status::add_counts(tx, original, 0, -1, 0).await?;
    }
    media::detach(app, tx, id, &[]).await?;
    record(app, tx, &status).await?;
    store::publish::delete(tx, id).await?;
    Ok(())
}

/// Tells plugins of the status and of its reblogs, which go with it.
async fn record(app: &App, tx: &mut Tx, status: &Status) -> Result<()> {
    if !hooks::is_heard(app, Kind::StatusDeleted) {
        return Ok(());
    }
    let mut changes = vec![Change::of(Kind::StatusDeleted, status)];
    if status.reblog_of_id.is_none() {
        let reblogs = store::publish::list_reblogs(&mut *tx, status.id).await?;
        changes.extend(reblogs.iter().map(|reblog| Change::of(Kind::StatusDeleted, reblog)));
    }
    hooks::record_all(app, tx, &changes).await
}
