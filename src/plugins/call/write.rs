//! Changes core data (contract: interface `core-write`), through the same services as everything else.

use std::collections::{HashMap, HashSet};
use std::sync::PoisonError;

use async_trait::async_trait;
use rookery_plugin_host::host::CoreWrite;
use rookery_plugin_host::imports::core_write::{NewNotification, NewStatus};
use rookery_plugin_host::imports::types::Failure;
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::Call;
use super::core::distinct;
use super::transaction::Work;
use crate::failure::{OrFailure as _, at_most, denied, failure, from_error, log_cause};
use crate::quota::count_reached;
use context::extension::Notice;
use model::notification::NotificationKind;
use model::{AccountId, Actor, MediaId, StatusId};
use service::profile_image::Picture;
use service::status::{self, CreatedStatus, Draft};
use service::{auth, follow, interaction, notification, profile};

/// Most statuses that one call creates, deletes or bookmarks.
const STATUSES: usize = 100;
/// Most follows that one call begins.
const FOLLOWS: usize = 20;
/// Most other items of one call.
const ITEMS: usize = 1_000;
/// Largest document stored with a status, in bytes.
const EXTRA: usize = 16 * 1024;

/// A status that passed validation and filters.
enum Prepared<'a> {
    /// It was published before with the same idempotency key.
    Repeated(StatusId),
    New(&'a Actor, Box<status::Ready>),
}

#[async_trait]
impl CoreWrite for Call {
    async fn create_statuses(&self, items: Vec<NewStatus>) -> Result<Vec<Result<i64, Failure>>, Failure> {
        at_most(items.len(), STATUSES, "statuses")?;
        let authors: Vec<i64> = items.iter().map(|item| item.author).collect();
        let authors = self.actors(&authors, Some("write:statuses")).await?;
        if self.cx.extensions().filters_drafts() && self.slot.lock().await.tx().is_some() {
            let why = "Other plugins are asked about statuses: publish them before anything else is changed";
            return Err(failure(409, "sql.transaction-open", why));
        }
        let mut prepared = Vec::with_capacity(items.len());
        for item in items {
            prepared.push(match authors.get(&item.author.into()) {
                None => Err(failure(404, "core.not-found", "There is no such author here")),
                Some(author) => Box::pin(self.prepare_status(author, item)).await,
            });
        }
        let mut made = Vec::with_capacity(prepared.len());
        for status in prepared {
            made.push(match status {
                Err(failure) => Err(failure),
                Ok(Prepared::Repeated(first)) => Ok(first.into()),
                Ok(Prepared::New(author, status)) => Box::pin(self.write_status(author, *status)).await,
            });
        }
        for failed in made.iter_mut().filter_map(|made| made.as_mut().err()) {
            log_cause(self.active.name(), "core-write.create-statuses", failed);
        }
        Ok(made)
    }

    async fn delete_statuses(&self, ids: Vec<i64>) -> Result<u32, Failure> {
        at_most(ids.len(), STATUSES, "ids")?;
        let statuses = store::status::list(&self.cx.db, &distinct::<StatusId>(&ids)).await.or_failure()?;
        let authors: Vec<i64> = statuses.iter().map(|status| status.account_id.into()).collect();
        let authors = self.actors(&authors, Some("write:statuses")).await?;
        if authors.is_empty() {
            return Ok(0);
        }
        let mut work = self.guarded().await?;
        let mut count = 0;
        for status in &statuses {
            let Some(author) = authors.get(&status.account_id) else { continue };
            if let Err(error) = status::remove(&self.cx, work.tx()?, author.id, status.id).await {
                return work.finish(Err(from_error(error))).await;
            }
            count += 1;
        }
        work.done().await?;
        Ok(count)
    }

    async fn bookmark(&self, account: i64, statuses: Vec<i64>) -> Result<Vec<bool>, Failure> {
        at_most(statuses.len(), STATUSES, "ids")?;
        let id = AccountId::from(account);
        let actors = self.actors(&[account], None).await?;
        let actor = actors.get(&id).ok_or_else(|| failure(404, "core.not-found", "There is no such account here"))?;
        let ids: Vec<StatusId> = statuses.into_iter().map(StatusId::from).collect();
        let proper = interaction::bookmarkable(&self.cx, actor, &ids).await.or_failure()?;
        if proper.is_empty() {
            return Ok(Vec::new());
        }
        let mut work = self.change().await?;
        let new = interaction::bookmark_all(&self.cx, work.tx()?, actor, &proper).await.or_failure()?;
        work.done().await?;
        Ok(new)
    }

    async fn notify(&self, items: Vec<NewNotification>) -> Result<u32, Failure> {
        at_most(items.len(), ITEMS, "notifications")?;
        for item in &items {
            self.check_notification(&item.kind)?;
        }
        if items.is_empty() {
            return Ok(0);
        }
        let notice = |item: NewNotification| Notice {
            receiver: item.to.into(),
            from: item.from.into(),
            kind: NotificationKind::from(item.kind),
            activity: item.activity,
            status: item.status.map(StatusId::from),
        };
        let notices: Vec<Notice> = self.charge_notifications(items).await?.into_iter().map(notice).collect();
        let mut work = self.change().await?;
        let notified = notification::notify(&self.cx, work.tx()?, &notices).await.or_failure()?;
        let count = u32::try_from(notified).unwrap_or(u32::MAX);
        work.done().await?;
        Ok(count)
    }

    async fn retract(&self, kind: String, activities: Vec<i64>) -> Result<u32, Failure> {
        at_most(activities.len(), ITEMS, "activities")?;
        self.check_notification(&kind)?;
        let mut work = self.change().await?;
        let retracted =
            notification::retract_all(work.tx()?, &NotificationKind::from(kind), &activities).await.or_failure()?;
        work.done().await?;
        Ok(u32::try_from(retracted).unwrap_or(u32::MAX))
    }

    async fn touch(&self, kind: String, ids: Vec<i64>) -> Result<(), Failure> {
        at_most(ids.len(), ITEMS, "ids")?;
        if !matches!(kind.as_str(), "status" | "account") {
            return Err(failure(404, "core.unknown-kind", "Statuses and accounts can be touched, nothing else"));
        }
        let mut work: Work<'_> = self.change().await?;
        if kind == "status" {
            store::status::bump_all(work.tx()?, &distinct(&ids)).await.or_failure()?;
        } else {
            store::account::bump_all(work.tx()?, &distinct(&ids)).await.or_failure()?;
        }
        work.done().await
    }

    async fn remove_profile_images(&self, account: i64, images: Vec<String>) -> Result<u32, Failure> {
        let pictures = images.iter().map(|name| Picture::named(name)).collect::<Option<Vec<_>>>();
        let pictures = pictures.ok_or_else(|| {
            failure(404, "core.unknown-kind", "A profile has an avatar and a header, and no other image")
        })?;
        let id = AccountId::from(account);
        if !self.actors(&[account], Some("write:accounts")).await?.contains_key(&id) {
            return Err(failure(404, "core.not-found", "There is no such account here"));
        }
        let mut work = self.guarded().await?;
        let removed = profile::remove_pictures(&self.cx, work.tx()?, id, &pictures).await.or_failure();
        let removed = work.finish(removed).await?;
        Ok(u32::try_from(removed).unwrap_or(u32::MAX))
    }

    async fn follow(&self, account: i64, targets: Vec<i64>) -> Result<Vec<bool>, Failure> {
        at_most(targets.len(), FOLLOWS, "targets")?;
        let id = AccountId::from(account);
        if !self.actors(&[account], Some("write:follows")).await?.contains_key(&id) {
            return Err(failure(404, "core.not-found", "There is no such account here"));
        }
        let targets: Vec<AccountId> = targets.iter().copied().map(AccountId::from).collect();
        let mut work = self.guarded().await?;
        let followed = follow::follow_all(&self.cx, work.tx()?, id, &targets).await.or_failure();
        work.finish(followed).await
    }
}

impl Call {
    /// Validates and filters a status, with no transaction open.
    async fn prepare_status<'a>(&self, author: &'a Actor, item: NewStatus) -> Result<Prepared<'a>, Failure> {
        let draft = self.draft(item).await?;
        if let Some(CreatedStatus::Status(first)) =
            status::idempotency::first_made(&self.cx, &self.cx.db, author, draft.idempotency_key.as_deref())
                .await
                .or_failure()?
        {
            return Ok(Prepared::Repeated(first));
        }
        Ok(Prepared::New(author, Box::new(status::prepare(&self.cx, author, draft).await.or_failure()?)))
    }

    async fn write_status(&self, author: &Actor, ready: status::Ready) -> Result<i64, Failure> {
        let mut work = self.guarded().await?;
        // One before it in the same call may have the same key.
        let key = ready.idempotency_key();
        let made = status::idempotency::first_made(&self.cx, work.tx()?, author, key).await.or_failure()?;
        if let Some(CreatedStatus::Status(first)) = made {
            work.done().await?;
            return Ok(first.into());
        }
        let written = status::write(&self.cx, work.tx()?, author, ready).await;
        let id = match written {
            Err(error) => return work.finish(Err(from_error(error))).await,
            Ok(id) => id,
        };
        work.done().await?;
        Ok(id.into())
    }

    async fn draft(&self, item: NewStatus) -> Result<Draft, Failure> {
        let wrong = |why: &str| failure(422, "core.invalid", why);
        let visibility =
            crate::codes::visibility_of(item.visibility).ok_or_else(|| wrong("There is no such visibility"))?;
        let extra = match item.extra {
            None => None,
            Some(text) => {
                at_most(text.len(), EXTRA, "bytes of extra")?;
                let extra: Map<String, Value> =
                    serde_json::from_str(&text).map_err(|_| wrong("extra must be a JSON object"))?;
                Some((self.active.id, Value::Object(extra)))
            }
        };
        let recipients = match item.recipients.as_slice() {
            [] => Vec::new(),
            recipients => store::account::list_known(&self.cx.db, &distinct(recipients)).await.or_failure()?,
        };
        Ok(Draft {
            text: item.text,
            spoiler_text: item.spoiler,
            visibility: Some(visibility.as_str().to_owned()),
            language: item.language,
            in_reply_to_id: item.reply_to.map(StatusId::from),
            media_ids: item.media.into_iter().map(MediaId::from).collect(),
            idempotency_key: (!item.idempotency_key.is_empty())
                .then(|| format!("{}/{}", self.active.name(), item.idempotency_key)),
            recipients: Some(recipients),
            extras: extra.into_iter().collect(),
            ..Draft::default()
        })
    }

    /// Charges notifications to the plugin's quota, before they are made. Notifications to accounts that received too
    /// many within the hour are dropped; an error when none remains.
    async fn charge_notifications(&self, mut items: Vec<NewNotification>) -> Result<Vec<NewNotification>, Failure> {
        let (most, now, asked) = (self.active.limits.notifications_per_hour, Instant::now(), items.len());
        {
            let mut notified = self.state.notified.lock().unwrap_or_else(PoisonError::into_inner);
            items.retain(|item| notified.count(item.to, most, now));
        }
        if items.len() < asked {
            count_reached(self.active.name(), "notifications-per-hour");
        }
        if items.is_empty() {
            let why = format!("The limit notifications-per-hour, {most} for an account, is reached");
            return Err(failure(429, "limit.notifications", why));
        }
        let quota = &self.active.quotas.notifications;
        quota.ready().await.or_failure()?;
        if quota.add(items.len() as u64) {
            return Ok(items);
        }
        let most = quota.most();
        let why = format!("The plugin's notifications have reached the limit notifications, {most}");
        Err(failure(507, "notifications.quota", why))
    }

    pub(super) fn need_write(&self, permission: &str) -> Result<(), Failure> {
        if self.granted().core_write.iter().any(|granted| granted == permission) {
            return Ok(());
        }
        Err(denied(&format!("core-write = [\"{permission}\"]")))
    }

    /// Checks that the manifest declares the type of notification: types of the server and of other plugins are
    /// refused.
    fn check_notification(&self, kind: &str) -> Result<(), Failure> {
        let declared = self.active.manifest.notifications.iter().any(|declared| declared.name == kind);
        if declared && NotificationKind::from(kind).core().is_none() {
            return Ok(());
        }
        Err(failure(422, "core.undeclared", format!("The manifest has no notification {kind:?}")))
    }

    /// The local accounts among `accounts`; for accounts other than the caller the plugin needs `as-any`. For publicly
    /// visible actions as the caller, the caller's token must have `scope`; for private actions the scopes of the
    /// plugin's route suffice.
    async fn actors(
        &self,
        accounts: &[i64],
        scope: Option<&'static str>,
    ) -> Result<HashMap<AccountId, Actor>, Failure> {
        let ids: HashSet<AccountId> = accounts.iter().copied().map(AccountId::from).collect();
        if ids.iter().any(|id| !self.is_caller(*id)) {
            self.need_write("as-any")?;
        }
        if let Some(caller) = self.caller.actor.as_ref().filter(|caller| ids.contains(&caller.id))
            && let Some(scope) = scope.filter(|scope| !caller.scopes.allows(&[scope]))
        {
            return Err(failure(403, "core.scope", format!("The caller's token lacks the scope {scope}")));
        }
        let ids: Vec<AccountId> = ids.into_iter().collect();
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let found = auth::actors(&self.cx, &ids).await.or_failure()?;
        Ok(found.into_iter().map(|actor| (actor.id, actor)).collect())
    }
}
