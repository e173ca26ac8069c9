//! Reblogging statuses and undoing it. Reached from the statuses routes; idempotent.
//!
//! Spec: docs/contract/rules.md#10-statuses, Boosts.

use crate::interaction::refuse_blocked;
use crate::rate_limits::{self, Family};
use crate::status::consent::{self, NewRequest};
use crate::status::{self, default_visibility};
use crate::{notification, visibility};
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result};
use context::extension::Notice;
use database::Tx;
use model::status::Visibility;
use model::{Actor, InteractionKind, NotificationType, Status, StatusId, urls};

/// Reblogs a status as `actor`. Returns the reblog, which is the existing one when repeated.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or hidden; [`Error::Forbidden`] when it is direct, limited, private and
/// someone else's, when `actor` blocks its author, or when the author does not allow it; [`Error::Invalid`] for an unknown visibility.
#[model::use_case]
pub async fn reblog(cx: &Cx, actor: &Actor, id: StatusId, wanted: Option<&str>) -> Result<StatusId> {
    let seen = visibility::status(cx, Some(actor), id).await?;
    refuse_blocked(&seen)?;
    let head = seen.proper();
    let visibility = reach(actor, head.visibility, head.account_id == actor.id, wanted)?;
    let original = store::status::find(&cx.db, head.id).await?.ok_or(Error::NotFound)?;
    let request = consent::needed(cx, actor, &seen, InteractionKind::Reblog).await?;
    let spent = rate_limits::family(cx, actor.id, Family::Statuses)?;

    let reblog: StatusId = cx.ids.next();
    let uri = format!("{}/activity", urls::note(&actor.uri, reblog));
    let new = Status {
        url: Some(uri.clone()),
        local_only: original.local_only,
        visibility,
        searchability: original.searchability,
        language: original.language.clone(),
        conversation_id: original.conversation_id,
        reblog_of_id: Some(original.id),
        app_id: actor.app,
        approval: request.as_ref().and_then(NewRequest::approval),
        ..Status::new(reblog, actor.id, uri, cx.clock.now())
    };
    let mut tx = cx.db.begin().await?;
    if !write(cx, &mut tx, actor, new, &original, request).await? {
        return store::reblog::find(&mut tx, actor.id, original.id).await?.ok_or(Error::NotFound);
    }
    tx.commit().await?;
    spent.keep();
    Ok(reblog)
}

/// Stores the reblog `new` of `original`, and publishes it unless it waits for approval; false when there is one already.
/// The transaction must not be committed then.
pub(crate) async fn write(
    cx: &Cx,
    tx: &mut Tx,
    actor: &Actor,
    new: Status,
    original: &Status,
    request: Option<NewRequest>,
) -> Result<bool> {
    let (id, uri) = (new.id, new.uri.clone());
    let waits = new.approval.is_some();
    let change = Change::StatusPublished { status: id, author: actor.id, traits: (&new).into() };
    if !status::insert::insert(cx, tx, actor, new).await? {
        return Ok(false);
    }
    if let Some(request) = request {
        consent::ask(cx, tx, actor.id, |_| uri, original.id, request).await?;
    }
    if waits {
        return Ok(true);
    }
    let notice = Notice {
        receiver: original.account_id,
        from: actor.id,
        kind: NotificationType::Reblog.into(),
        activity: i64::from(id),
        status: Some(original.id),
    };
    notification::notify(cx, tx, &[notice]).await?;
    change::record(cx, tx, change).await?;
    Ok(true)
}

/// Undoes the reblog of a status. Returns the original.
///
/// # Errors
/// [`Error::NotFound`] when the status is missing or hidden.
#[model::use_case]
pub async fn unreblog(cx: &Cx, actor: &Actor, id: StatusId) -> Result<StatusId> {
    let seen = visibility::status(cx, Some(actor), id).await?;
    let original = seen.proper().id;
    let mut tx = cx.db.begin().await?;
    let Some(reblog) = store::reblog::find(&mut tx, actor.id, original).await? else { return Ok(original) };
    notification::retract(&mut tx, NotificationType::Reblog, reblog).await?;
    match status::remove(cx, &mut tx, actor.id, reblog).await {
        Ok(()) => tx.commit().await?,
        // Another request was faster.
        Err(Error::NotFound) => {}
        Err(error) => return Err(error),
    }
    Ok(original)
}

/// The visibility of a reblog: as requested, or by default; never wider than private for a private status.
fn reach(actor: &Actor, original: Visibility, own: bool, wanted: Option<&str>) -> Result<Visibility> {
    let wanted = match wanted {
        None | Some("") => default_visibility(actor),
        Some(word) => match word.parse() {
            Ok(Visibility::Direct | Visibility::Limited) | Err(_) => {
                return Err(Error::invalid(
                    "visibility: must be one of public, public_unlisted, login, unlisted, private",
                ));
            }
            Ok(visibility) => visibility,
        },
    };
    match original {
        Visibility::Direct | Visibility::Limited => Err(Error::forbidden("This status cannot be reblogged")),
        Visibility::Private if !own => Err(Error::forbidden("A private status of someone else cannot be reblogged")),
        Visibility::Private => Ok(Visibility::Private),
        Visibility::Public | Visibility::PublicUnlisted | Visibility::Login | Visibility::Unlisted => {
            Ok(if matches!(wanted, Visibility::Direct | Visibility::Limited) { Visibility::Private } else { wanted })
        }
    }
}
