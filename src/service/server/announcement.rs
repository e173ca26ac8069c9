//! Announcements by the staff to everyone: reading, dismissing and reacting to them.
//!
//! Reached from the announcements routes, and for the staff from `rookery announcement`.
//! The job [`MaintainAnnouncement`] publishes the effects of a change to streams, in the process that runs it, since
//! commands run beside the server.
//!
//! Spec: docs/contract/rules.md#25-announcements-emojis-preferences;
//! <https://docs.joinmastodon.org/methods/announcements/>

use crate::access::web_address;
use std::collections::BTreeSet;

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta};

use crate::audit::{self, Entry, Target};
use crate::status::compose;
use crate::visibility::{self, Seen};
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result};
use context::queue::{self, MaintainAnnouncement};
use database::Tx;
use model::{AccountId, Actor, Json, RowId, Staff, StatusId, Time};
use store::announcement::{self, ListedAnnouncement, ReactionCount};

use context::job;
pub use store::announcement::Announcement;

/// Most different reactions to an announcement (docs/contract/rules.md#25-announcements-emojis-preferences).
const REACTIONS_MAX: i64 = 8;
/// Longest announcement, in characters.
const TEXT_MAX: usize = 10_000;

/// The content of an announcement, and the time of its event.
#[derive(Clone, Debug)]
pub struct Draft {
    pub text: String,
    pub starts_at: Option<Time>,
    pub ends_at: Option<Time>,
    pub all_day: bool,
}

/// When an announcement is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Publication {
    /// Not published until someone publishes it.
    Draft,
    /// Immediately.
    Now,
    /// At this time; a time in the past means immediately.
    At(Time),
}

/// Announcements with the data that depends on the viewer.
#[derive(Debug)]
pub struct VisibleAnnouncements {
    pub listed: Vec<ListedAnnouncement>,
    pub reactions: Vec<ReactionCount>,
    pub statuses: Vec<Seen>,
}

/// The announcements that are currently shown, oldest first, as `viewer` sees them; with the linked statuses that
/// anyone may read.
#[model::use_case]
pub async fn list(cx: &Cx, viewer: &Actor) -> Result<VisibleAnnouncements> {
    let listed = announcement::list_shown(&cx.db, viewer.id, cx.clock.now()).await?;
    let ids: Vec<RowId> = listed.iter().map(|listed| listed.announcement.id).collect();
    let reactions = if ids.is_empty() { Vec::new() } else { announcement::reactions(&cx.db, viewer.id, &ids).await? };
    let named: BTreeSet<StatusId> = listed.iter().flat_map(|listed| listed.announcement.statuses.0.clone()).collect();
    let named: Vec<StatusId> = named.into_iter().collect();
    let mut statuses = visibility::statuses(cx, Some(viewer), visibility::Place::Single, &named).await?;
    statuses.retain(|seen| seen.proper().visibility.is_anonymous());
    Ok(VisibleAnnouncements { listed, reactions, statuses })
}

/// Records that `actor` has seen an announcement; not an error when it is recorded already.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or not shown.
#[model::use_case]
pub async fn dismiss(cx: &Cx, actor: &Actor, id: RowId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    lock_shown(cx, &mut tx, id).await?;
    announcement::dismiss(&mut tx, actor.id, id).await?;
    Ok(tx.commit().await?)
}

/// Reacts to an announcement with `name`: a Unicode emoji or the shortcode of an emoji of this server.
///
/// # Errors
/// [`Error::NotFound`] when the announcement is missing or not shown, [`Error::Invalid`] for an invalid emoji, for a
/// repeated reaction by `actor`, and for a ninth different one.
#[model::use_case]
pub async fn react(cx: &Cx, actor: &Actor, id: RowId, name: &str) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    lock_shown(cx, &mut tx, id).await?;
    let name = emoji(cx, name).ok_or_else(|| Error::invalid("Validation failed: Name is not a recognized emoji"))?;
    if !announcement::insert_reaction(&mut tx, id, actor.id, &name, cx.ids.next()).await? {
        return Err(Error::invalid("Validation failed: Name has already been taken"));
    }
    if announcement::count_names(&mut tx, id).await? > REACTIONS_MAX {
        return Err(Error::invalid(format!("Validation failed: Limit of {REACTIONS_MAX} different reactions reached")));
    }
    change::record(cx, &mut tx, Change::AnnouncementReaction { announcement: id, name }).await?;
    Ok(tx.commit().await?)
}

/// Removes a reaction of `actor`.
///
/// # Errors
/// [`Error::NotFound`] when the announcement is missing or not shown, or there is no such reaction.
#[model::use_case]
pub async fn unreact(cx: &Cx, actor: &Actor, id: RowId, name: &str) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    lock_shown(cx, &mut tx, id).await?;
    let name = emoji(cx, name).unwrap_or_else(|| name.to_owned());
    if !announcement::delete_reaction(&mut tx, id, actor.id, &name).await? {
        return Err(Error::NotFound);
    }
    change::record(cx, &mut tx, Change::AnnouncementReaction { announcement: id, name }).await?;
    Ok(tx.commit().await?)
}

/// The canonical name of an emoji; `None` for an invalid one.
fn emoji(cx: &Cx, name: &str) -> Option<String> {
    let unicode = emojis::get(name).map(emojis::Emoji::as_str);
    let custom = || cx.emojis().by_shortcode.contains_key(name).then_some(name);
    unicode.or_else(custom).map(str::to_owned)
}

async fn lock_shown(cx: &Cx, tx: &mut Tx, id: RowId) -> Result<Announcement> {
    let found = announcement::lock(tx, id).await?.filter(|found| is_shown(found, cx.clock.now()));
    found.ok_or(Error::NotFound)
}

fn is_shown(announcement: &Announcement, now: Time) -> bool {
    announcement.published_at.is_some() && !has_ended(announcement, now)
}

fn has_ended(announcement: &Announcement, now: Time) -> bool {
    announcement.ends_at.is_some_and(|end| end <= now)
}

/// The announcement, if it is shown now.
pub async fn find_shown(cx: &Cx, id: RowId) -> Result<Option<Announcement>> {
    Ok(announcement::find(&cx.db, id).await?.filter(|found| is_shown(found, cx.clock.now())))
}

/// Every announcement, including drafts and ended ones, oldest first. For the staff.
#[model::use_case]
pub async fn list_all(cx: &Cx) -> Result<Vec<Announcement>> {
    Ok(announcement::list(&cx.db).await?)
}

/// Creates an announcement.
///
/// # Errors
/// [`Error::Invalid`] for an invalid draft.
#[model::use_case]
pub async fn create(cx: &Cx, staff: &Staff, draft: Draft, when: Publication) -> Result<RowId> {
    let (id, now) = (cx.ids.next(), cx.clock.now());
    let blank = Announcement {
        id,
        text: String::new(),
        content: String::new(),
        mentions: Json(Vec::new()),
        tags: Json(Vec::new()),
        statuses: Json(Vec::new()),
        starts_at: None,
        ends_at: None,
        all_day: false,
        scheduled_at: None,
        published_at: None,
        created_at: now,
        updated_at: now,
    };
    let written = publication(written(cx, blank, draft).await?, when, now);
    let mut tx = cx.db.begin().await?;
    save(cx, &mut tx, &written).await?;
    log(cx, &mut tx, staff, "announcement.create", id).await?;
    tx.commit().await?;
    Ok(id)
}

/// Changes the content of an announcement; `change` receives its previous content.
///
/// # Errors
/// [`Error::Invalid`] when it does not exist, or for an invalid draft.
#[model::use_case]
pub async fn edit(cx: &Cx, staff: &Staff, id: RowId, change: impl FnOnce(Draft) -> Draft) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let old = lock(&mut tx, id).await?;
    let draft = Draft { text: old.text.clone(), starts_at: old.starts_at, ends_at: old.ends_at, all_day: old.all_day };
    let new = Announcement { updated_at: cx.clock.now(), ..written(cx, old, change(draft)).await? };
    save(cx, &mut tx, &new).await?;
    log(cx, &mut tx, staff, "announcement.update", id).await?;
    Ok(tx.commit().await?)
}

/// Publishes, schedules or withdraws an announcement.
///
/// # Errors
/// [`Error::Invalid`] when it does not exist.
#[model::use_case]
pub async fn publish(cx: &Cx, staff: &Staff, id: RowId, when: Publication) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let old = lock(&mut tx, id).await?;
    let new = Announcement { updated_at: cx.clock.now(), ..publication(old, when, cx.clock.now()) };
    save(cx, &mut tx, &new).await?;
    let action = if when == Publication::Draft { "announcement.unpublish" } else { "announcement.publish" };
    log(cx, &mut tx, staff, action, id).await?;
    Ok(tx.commit().await?)
}

/// Deletes an announcement for good.
///
/// # Errors
/// [`Error::Invalid`] when it does not exist.
#[model::use_case]
pub async fn remove(cx: &Cx, staff: &Staff, id: RowId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    if !announcement::delete(&mut tx, id).await? {
        return Err(unknown(id));
    }
    log(cx, &mut tx, staff, "announcement.delete", id).await?;
    queue::enqueue(cx, &mut tx, &MaintainAnnouncement { announcement: id }).await?;
    Ok(tx.commit().await?)
}

/// Adds a change of an announcement to the audit log.
async fn log(cx: &Cx, tx: &mut Tx, staff: &Staff, action: &'static str, id: RowId) -> Result<()> {
    audit::record(cx, tx, staff, Entry::new(action, Target::new("announcement", id, format!("#{id}")))).await
}

async fn lock(tx: &mut Tx, id: RowId) -> Result<Announcement> {
    announcement::lock(tx, id).await?.ok_or_else(|| unknown(id))
}

fn unknown(id: RowId) -> Error {
    Error::invalid(format!("there is no announcement {id}"))
}

/// Writes an announcement, and queues jobs for it: now, when it is due and when it ends.
async fn save(cx: &Cx, tx: &mut Tx, announcement: &Announcement) -> Result<()> {
    announcement::upsert(tx, announcement).await?;
    let job = MaintainAnnouncement { announcement: announcement.id };
    queue::enqueue(cx, tx, &job).await?;
    for at in [announcement.scheduled_at, announcement.ends_at].into_iter().flatten() {
        if at > cx.clock.now() {
            queue::enqueue_at(cx, tx, &job, at).await?;
        }
    }
    Ok(())
}

fn publication(old: Announcement, when: Publication, now: Time) -> Announcement {
    match when {
        Publication::Draft => Announcement { scheduled_at: None, published_at: None, ..old },
        Publication::At(time) if time > now => Announcement { scheduled_at: Some(time), published_at: None, ..old },
        Publication::At(_) | Publication::Now => {
            Announcement { scheduled_at: None, published_at: old.published_at.or(Some(now)), ..old }
        }
    }
}

/// The announcement with the rendered content of `draft`.
async fn written(cx: &Cx, old: Announcement, draft: Draft) -> Result<Announcement> {
    let text = checked(&draft)?;
    let text = text::rewrite_local_mentions(text, &compose::local_domains(cx));
    let scan = text::scan(&text);
    // Announcements have no author, so no blocks apply.
    let mentioned = compose::mentioned(cx, AccountId::from(0), &scan).await?;
    let tags: BTreeSet<String> = scan.hashtags().map(|tag| tag.name.clone()).collect();
    let has_dates = draft.starts_at.is_some();
    Ok(Announcement {
        content: compose::to_html(cx, &text, &mentioned),
        mentions: Json(mentioned.iter().map(|account| account.id).collect()),
        tags: Json(tags.into_iter().collect()),
        statuses: Json(statuses(cx, &text)),
        starts_at: draft.starts_at,
        ends_at: draft.ends_at,
        all_day: draft.all_day && has_dates,
        text,
        ..old
    })
}

/// The trimmed text of a valid draft.
fn checked(draft: &Draft) -> Result<&str> {
    let text = draft.text.trim();
    if text.is_empty() || text.chars().count() > TEXT_MAX || text::contains_nul(text) {
        return Err(Error::invalid(format!("an announcement has 1 to {TEXT_MAX} characters")));
    }
    match (draft.starts_at, draft.ends_at) {
        (None, None) => Ok(text),
        (Some(start), Some(end)) if start < end => Ok(text),
        (Some(_), Some(_)) => Err(Error::invalid("an event ends after it starts")),
        (Some(_), None) | (None, Some(_)) => Err(Error::invalid("an event has both a start and an end, or neither")),
    }
}

/// The statuses of this server linked in `text`, in its order, each once.
fn statuses(cx: &Cx, text: &str) -> Vec<StatusId> {
    let mut found = Vec::new();
    for entity in text::scan(text) {
        let named = matches!(entity.kind, text::EntityKind::Url).then(|| &text[entity.range]);
        let id = named.and_then(|address| web_address::status(cx, address)).map(|(_, id)| id);
        found.extend(id.filter(|id| !found.contains(id)));
    }
    found
}

/// Publishes an announcement that is due, withdraws an ended one, and notifies streams. Repeating it is harmless.
#[model::use_case]
#[job]
async fn maintain(cx: &Cx, tx: &mut Tx, MaintainAnnouncement { announcement: id }: MaintainAnnouncement) -> Result<()> {
    let now = cx.clock.now();
    let found = announcement::lock(tx, id).await?;
    let shown = match found {
        Some(found) if has_ended(&found, now) && found.published_at.is_some() => {
            announcement::upsert(tx, &Announcement { published_at: None, scheduled_at: None, ..found }).await?;
            false
        }
        Some(found) if is_due(&found, now) => {
            let published_at = Some(now);
            announcement::upsert(tx, &Announcement { published_at, scheduled_at: None, ..found }).await?;
            true
        }
        Some(found) => found.published_at.is_some(),
        None => false,
    };
    let change = if shown {
        Change::AnnouncementPublished { announcement: id }
    } else {
        Change::AnnouncementDeleted { announcement: id }
    };
    change::record(cx, tx, change).await
}

fn is_due(announcement: &Announcement, now: Time) -> bool {
    announcement.published_at.is_none()
        && announcement.scheduled_at.is_some_and(|at| at <= now)
        && !has_ended(announcement, now)
}

/// A time as the staff writes it: RFC 3339, or a day in UTC, whose last moment is returned with `end`.
///
/// # Errors
/// [`Error::Invalid`] for anything else.
pub fn time(text: &str, end: bool) -> Result<Time> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Ok(time.to_utc().into());
    }
    let day = text.parse::<NaiveDate>().map_err(|_| {
        Error::invalid(format!("{text:?} is not a time: write 2026-01-15T12:00:00Z, or 2026-01-15 for the whole day"))
    })?;
    let midnight = Time::from(day.and_time(NaiveTime::MIN).and_utc());
    Ok(if end { midnight + TimeDelta::days(1) - TimeDelta::milliseconds(1) } else { midnight })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn day_includes_its_last_moment() {
        let api = |text, end| time(text, end).map(Time::to_api).ok();
        assert_eq!(api("2026-01-15", false).as_deref(), Some("2026-01-15T00:00:00.000Z"));
        assert_eq!(api("2026-01-15", true).as_deref(), Some("2026-01-15T23:59:59.999Z"));
        assert_eq!(api("2026-01-15T13:00:00+01:00", true).as_deref(), Some("2026-01-15T12:00:00.000Z"));
        assert_eq!(api("tomorrow", false), None);
    }
}
