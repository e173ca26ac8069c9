//! Statuses that are published later.
//!
//! Reached from `POST /api/v1/statuses` with a time in the future, from `/api/v1/scheduled_statuses`, and from the
//! job [`PublishScheduled`]. A draft is validated as for publishing when it is scheduled ([`status::validate`]), and
//! again when it is due, plugins' filters included. If it cannot be published then, it is stored with the reason, so
//! that its author can set another time, and the author receives a mail: no text is lost, and apps do not have to
//! poll.
//!
//! Spec: docs/contract/rules.md#22-scheduled-statuses.

mod due;

use chrono::{Duration, NaiveTime};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::media;
use crate::poll::PollDraft;
use crate::status::{self, CreatedStatus, Draft, saved_draft};
use context::Cx;
use context::error::{Error, Result};
use context::queue::{self, PublishScheduled};
use database::Tx;
use model::account::Searchability;
use model::interaction::PolicyRules;
use model::{
    AccountId, Actor, AppId, Cursor, Json, MediaAttachment, MediaId, QuotePolicy, ScheduledStatus, ScheduledStatusId,
    StatusId, Time,
};

/// How far ahead a status must be scheduled at least.
const MIN_AHEAD: Duration = Duration::minutes(5);
/// Most scheduled statuses of an account.
const MAX_PENDING: i64 = 300;
/// Most scheduled statuses of an account for one day, in UTC.
const MAX_PER_DAY: i64 = 25;
/// Most bytes of the parameters for plugins, as JSON: they may be stored for years.
const MAX_REST_BYTES: usize = 16 * 1024;

/// The request to publish a status, as stored and as returned to clients. Members of `rest` are the parameters for
/// plugins.
#[derive(Debug, Serialize, Deserialize)]
struct Params {
    text: String,
    media_ids: Vec<MediaId>,
    sensitive: Option<bool>,
    spoiler_text: String,
    visibility: Option<String>,
    language: Option<String>,
    scheduled_at: (),
    in_reply_to_id: Option<StatusId>,
    poll: Option<PollDraft>,
    allowed_mentions: Option<Vec<AccountId>>,
    idempotency: (),
    with_rate_limit: bool,
    application_id: Option<AppId>,
    force_visibility: Option<bool>,
    searchability: Option<Searchability>,
    #[serde(default)]
    local_only: bool,
    #[serde(default)]
    markdown: bool,
    #[serde(default)]
    status_reference_ids: Vec<StatusId>,
    #[serde(default)]
    quoted_status_id: Option<StatusId>,
    #[serde(default)]
    quote_approval_policy: Option<QuotePolicy>,
    #[serde(default)]
    interaction_policy: PolicyRules,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Members of [`Params`] that are not parameters of the request; parameters of these names are dropped.
const RESERVED: [&str; 4] = ["text", "idempotency", "with_rate_limit", "application_id"];

impl Params {
    /// The parameters of `draft`. Its language is decided now, since there is no request when it is published.
    ///
    /// # Errors
    /// [`Error::Invalid`] beyond [`MAX_REST_BYTES`].
    fn new(cx: &Cx, actor: &Actor, draft: Draft) -> Result<Self> {
        let mut rest = draft.params;
        RESERVED.iter().for_each(|name| drop(rest.remove(*name)));
        let force_visibility = rest.remove("force_visibility").as_ref().and_then(Value::as_bool);
        if serde_json::to_string(&rest).map_err(Error::internal)?.len() > MAX_REST_BYTES {
            let why =
                format!("parameters of extensions: a scheduled status keeps at most {MAX_REST_BYTES} bytes of them");
            return Err(Error::invalid(why));
        }
        let request = draft.request_language.as_deref();
        Ok(Self {
            text: draft.text,
            media_ids: draft.media_ids,
            sensitive: draft.sensitive,
            spoiler_text: draft.spoiler_text,
            visibility: draft.visibility,
            language: status::compose::language(cx, actor, draft.language.as_deref(), request),
            scheduled_at: (),
            in_reply_to_id: draft.in_reply_to_id,
            poll: draft.poll,
            allowed_mentions: draft.allowed_mentions,
            idempotency: (),
            with_rate_limit: false,
            application_id: actor.app,
            force_visibility,
            searchability: draft.searchability,
            local_only: draft.local_only,
            markdown: draft.markdown,
            status_reference_ids: draft.status_reference_ids.into_iter().take(status::MOST_REFERENCES).collect(),
            quoted_status_id: draft.quoted_status_id,
            // The preference at the time of scheduling.
            quote_approval_policy: draft.quote_approval_policy.or(Some(actor.preferences.default_quote_policy)),
            interaction_policy: draft.interaction_policy,
            rest,
        })
    }

    fn into_draft(self) -> Draft {
        let mut params = self.rest;
        if let Some(force) = self.force_visibility {
            params.insert("force_visibility".to_owned(), force.into());
        }
        Draft {
            text: self.text,
            spoiler_text: self.spoiler_text,
            sensitive: self.sensitive,
            visibility: self.visibility,
            searchability: self.searchability,
            local_only: self.local_only,
            language: self.language,
            in_reply_to_id: self.in_reply_to_id,
            media_ids: self.media_ids,
            poll: self.poll,
            allowed_mentions: self.allowed_mentions,
            markdown: self.markdown,
            status_reference_ids: self.status_reference_ids,
            quoted_status_id: self.quoted_status_id,
            quote_approval_policy: self.quote_approval_policy,
            interaction_policy: self.interaction_policy,
            params,
            ..Draft::default()
        }
    }
}

/// A scheduled status with its attachments, in order.
#[derive(Debug)]
pub struct WithMedia {
    pub scheduled: ScheduledStatus,
    pub media: Vec<MediaAttachment>,
}

/// Schedules `draft` of `actor` for the time `at`, and reserves its attachments.
///
/// # Errors
/// As publishing, without its rate limit; [`Error::Invalid`] for a time less than [`MIN_AHEAD`] ahead, and beyond
/// [`MAX_PENDING`] or [`MAX_PER_DAY`]; [`Error::Conflict`] when another request with the same idempotency key was
/// faster.
pub(super) async fn create(cx: &Cx, actor: &Actor, draft: Draft, at: Time) -> Result<CreatedStatus> {
    check_time(cx, at)?;
    let (key, media_ids) = (draft.idempotency_key.clone(), draft.media_ids.clone());
    let saved_draft = draft.saved_draft_id;
    let params = Params::new(cx, actor, draft.clone())?;
    status::validate(cx, actor, draft).await?;
    let new = ScheduledStatus {
        id: cx.ids.next(),
        account_id: actor.id,
        scheduled_at: at,
        params: Json(serde_json::to_value(params).map_err(Error::internal)?),
        failure: None,
        created_at: cx.clock.now(),
    };
    let mut tx = cx.db.begin().await?;
    status::idempotency::claim(cx, &mut tx, actor, key.as_deref(), CreatedStatus::Scheduled(new.id)).await?;
    check_limits(&mut tx, actor.id, at, None).await?;
    let media = media::attachable(cx, &mut tx, actor, None, &media_ids).await?;
    store::scheduled_status::insert(&mut tx, &new).await?;
    media::reserve(cx, &mut tx, new.id, &media.iter().map(|media| media.id).collect::<Vec<_>>()).await?;
    saved_draft::publish(cx, &mut tx, actor.id, saved_draft).await?;
    publish_later(cx, &mut tx, new.id, at).await?;
    tx.commit().await?;
    Ok(CreatedStatus::Scheduled(new.id))
}

async fn publish_later(cx: &Cx, tx: &mut Tx, id: ScheduledStatusId, at: Time) -> Result<()> {
    queue::enqueue_at(cx, tx, &PublishScheduled { scheduled: id }, at).await
}

fn check_time(cx: &Cx, at: Time) -> Result<()> {
    if at > cx.clock.now() + MIN_AHEAD {
        return Ok(());
    }
    let minutes = MIN_AHEAD.num_minutes();
    Err(Error::invalid(format!("Validation failed: scheduled_at must be more than {minutes} minutes ahead")))
}

/// Refuses one more scheduled status of `account` on the day of `at`. Locks the account, so that concurrent requests
/// count one after the other.
async fn check_limits(tx: &mut Tx, account: AccountId, at: Time, except: Option<ScheduledStatusId>) -> Result<()> {
    store::account::lock(tx, &[account]).await?;
    let begin = Time::from(at.date_naive().and_time(NaiveTime::MIN).and_utc());
    let day = (begin, begin + Duration::days(1));
    let (on_day, pending) = store::scheduled_status::count(&mut *tx, account, day, except).await?;
    let refused = |most: i64, what: &str| {
        Err(Error::invalid(format!("Validation failed: You have reached the limit of {most} scheduled posts{what}")))
    };
    if pending >= MAX_PENDING {
        return refused(MAX_PENDING, "");
    }
    if on_day >= MAX_PER_DAY { refused(MAX_PER_DAY, " for that day") } else { Ok(()) }
}

/// A page of the scheduled statuses of `account`, newest first.
#[model::use_case]
pub async fn list(cx: &Cx, account: AccountId, cursor: &Cursor) -> Result<Vec<WithMedia>> {
    let rows = store::scheduled_status::list(&cx.db, account, cursor).await?;
    with_media(cx, rows).await
}

/// One of `viewer`'s scheduled statuses.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or someone else's.
#[model::use_case]
pub async fn show(cx: &Cx, viewer: &Actor, id: ScheduledStatusId) -> Result<WithMedia> {
    let row = store::scheduled_status::find(&cx.db, id).await?;
    let row = row.filter(|row| row.account_id == viewer.id).ok_or(Error::NotFound)?;
    with_media(cx, vec![row]).await?.pop().ok_or(Error::NotFound)
}

async fn with_media(cx: &Cx, rows: Vec<ScheduledStatus>) -> Result<Vec<WithMedia>> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<ScheduledStatusId> = rows.iter().map(|row| row.id).collect();
    let media = store::media::list_for_scheduled(&cx.db, &ids).await?;
    let of = |scheduled: ScheduledStatus| WithMedia {
        media: media.iter().filter(|media| media.scheduled_status_id == Some(scheduled.id)).cloned().collect(),
        scheduled,
    };
    Ok(rows.into_iter().map(of).collect())
}

/// Moves one of `actor`'s scheduled statuses to the time `at`; `None` leaves it unchanged.
///
/// # Errors
/// As [`show`]; [`Error::Invalid`] for a time not more than five minutes ahead, and beyond the limit of that day.
#[model::use_case]
pub async fn update(cx: &Cx, actor: &Actor, id: ScheduledStatusId, at: Option<Time>) -> Result<WithMedia> {
    let found = show(cx, actor, id).await?;
    let Some(at) = at else { return Ok(found) };
    check_time(cx, at)?;
    let mut tx = cx.db.begin().await?;
    check_limits(&mut tx, actor.id, at, Some(id)).await?;
    if !store::scheduled_status::reschedule(&mut tx, id, at).await? {
        return Err(Error::NotFound);
    }
    publish_later(cx, &mut tx, id, at).await?;
    tx.commit().await?;
    show(cx, actor, id).await
}

/// Deletes one of `actor`'s scheduled statuses, which releases its attachments.
///
/// # Errors
/// As [`show`].
#[model::use_case]
pub async fn delete(cx: &Cx, actor: &Actor, id: ScheduledStatusId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    store::account::lock(&mut tx, &[actor.id]).await?;
    media::release(cx, &mut tx, actor.id, id).await?;
    if !store::scheduled_status::delete(&mut tx, actor.id, id).await? {
        return Err(Error::NotFound);
    }
    tx.commit().await?;
    Ok(())
}
