//! <https://docs.joinmastodon.org/entities/GroupedNotificationsResults/>

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::attached::{Attached, Member};
use super::fallback::Fallbacks;
use super::notification::target;
use super::status;
use context::Cx;
use context::error::{Error, Result};
use context::extension::{Decorations, Entity};
use context::json::{Array, Fragment, Object};
use model::notification::NotificationKind;
use model::{AccountId, Actor, NotificationId, StatusId, text_enum};
use service::notification::groups::{Group, ungrouped};
use service::visibility::Seen;

/// The member names of a group.
pub(super) const MEMBERS: &[&str] = &[
    "group_key",
    "notifications_count",
    "type",
    "most_recent_notification_id",
    "page_min_id",
    "page_max_id",
    "latest_page_notification_at",
    "sample_account_ids",
    "status_id",
    "report",
    "event",
    "moderation_warning",
    "list",
    "fallback",
];

text_enum! {
    /// How much of the accounts of groups the response contains.
    ExpandAccounts {
        /// Complete accounts.
        Full = "full",
        /// The first account of each group complete, and of the others the members for an avatar.
        PartialAvatars = "partial_avatars",
    }
}

#[derive(Debug, Serialize)]

struct Shared<'a> {
    group_key: &'a str,
    notifications_count: i64,
    #[serde(rename = "type")]
    kind: &'a NotificationKind,
    /// An integer, unlike every other id.
    most_recent_notification_id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    page_min_id: Option<NotificationId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page_max_id: Option<NotificationId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latest_page_notification_at: Option<String>,
    sample_account_ids: &'a [AccountId],
    #[serde(skip_serializing_if = "Option::is_none")]
    status_id: Option<StatusId>,
}

/// The members of an account that an avatar needs, parsed from the complete account, which is cached.
#[derive(Debug, Serialize, Deserialize)]
struct PartialAccount {
    id: AccountId,
    acct: String,
    locked: bool,
    bot: bool,
    url: Option<String>,
    avatar: String,
    avatar_static: String,
}

/// Renders groups, in the order given, with their statuses and accounts, each once. No statement for cached entities.
/// Groups have words for the types that `fallbacks` requests.
pub async fn render(
    cx: &Cx,
    actor: &Actor,
    groups: &[Group],
    expand: ExpandAccounts,
    fallbacks: Option<&Fallbacks<'_>>,
) -> Result<Fragment> {
    let parts = Parts::load(cx, actor, groups, fallbacks).await?;
    let shown = groups.iter().enumerate().filter_map(|(place, group)| parts.shown(place, group));
    parts.results(&shown.collect::<Vec<_>>(), expand)
}

/// Renders one group, with its status and accounts.
///
/// # Errors
/// [`Error::NotFound`] when its account or status was deleted meanwhile.
pub async fn render_one(cx: &Cx, actor: &Actor, group: &Group, fallbacks: Option<&Fallbacks<'_>>) -> Result<Fragment> {
    let parts = Parts::load(cx, actor, std::slice::from_ref(group), fallbacks).await?;
    let shown = parts.shown(0, group).ok_or(Error::NotFound)?;
    parts.results(&[shown], ExpandAccounts::Full)
}

/// Size of the results without accounts, statuses and groups, in bytes.
const FRAME_BYTES: usize = 80;

/// The data for the groups of a page.
struct Parts<'a> {
    statuses: status::Parts<'a>,
    /// The statuses of the groups, each once.
    seen: Vec<Seen>,
    attached: Attached,
    added: Decorations,
    /// The index in [`Parts::added`] at which the targets of each group begin.
    targets: Vec<usize>,
    fallbacks: Option<&'a Fallbacks<'a>>,
}

/// A group with all its parts, and its index on the page.
struct RenderedGroup<'a> {
    place: usize,
    group: &'a Group,
    accounts: Vec<AccountId>,
}

impl<'v> Parts<'v> {
    async fn load(cx: &Cx, actor: &'v Actor, groups: &[Group], fallbacks: Option<&'v Fallbacks<'v>>) -> Result<Self> {
        let mut seen: Vec<Seen> = groups.iter().filter_map(|group| group.newest.status).collect();
        let mut met = HashSet::new();
        seen.retain(|seen| met.insert(seen.head().id));
        let samples = groups.iter().flat_map(|group| &group.samples);
        let accounts: Vec<(AccountId, i64)> =
            samples.map(|row| (row.notification.from_account_id, row.from_version)).collect();
        let statuses = status::Parts::load(cx, Some(actor), seen.iter(), &accounts).await?;
        let attached = Attached::load(cx, actor, groups.iter().map(|group| &group.newest)).await?;
        let added = added(cx, actor, groups).await;
        let mut end = 0;
        let begin = |group: &Group| {
            end += group.samples.len();
            end - group.samples.len()
        };
        Ok(Self { statuses, seen, attached, added, targets: groups.iter().map(begin).collect(), fallbacks })
    }

    /// `None` when all its accounts, its status or another subject were deleted since it was read.
    fn shown<'a>(&self, place: usize, group: &'a Group) -> Option<RenderedGroup<'a>> {
        if let Some(seen) = &group.newest.status {
            self.statuses.entry(seen)?;
        }
        if matches!(self.attached.of(&group.newest), Member::Gone) {
            return None;
        }
        let mut accounts: Vec<AccountId> = Vec::with_capacity(group.samples.len());
        for sample in &group.samples {
            let id = sample.notification.from_account_id;
            if self.statuses.authors.get(&id).is_some() && !accounts.contains(&id) {
                accounts.push(id);
            }
        }
        (!accounts.is_empty()).then_some(RenderedGroup { place, group, accounts })
    }

    fn results(&self, shown: &[RenderedGroup<'_>], expand: ExpandAccounts) -> Result<Fragment> {
        let (full, partial) = self.accounts(shown, expand)?;
        // The groups name them, and a page has few.
        let statuses: Vec<_> = self.seen.iter().filter_map(|seen| self.statuses.entry(seen)).collect();
        let groups: Vec<Fragment> = shown.iter().map(|shown| self.group(shown)).collect::<Result<_>>()?;
        let size = FRAME_BYTES
            + full.iter().map(|text| text.len() + 1).sum::<usize>()
            + status::size_bytes(&statuses)
            + groups.iter().map(|group| group.as_str().len() + 1).sum::<usize>()
            + partial.as_ref().map_or(0, |partial| partial.as_str().len());
        let mut results = Object::with_capacity(size);
        results
            .member_with("accounts", |out| Array::write(out, full, String::push_str))
            .member_with("statuses", |out| Array::write(out, &statuses, |out, entry| self.statuses.write(out, entry)))
            .member_with("notification_groups", |out| {
                Array::write(out, groups.iter().map(Fragment::as_str), String::push_str);
            });
        if let Some(partial) = partial {
            results.member("partial_accounts", partial.as_str());
        }
        Ok(results.close())
    }

    fn group(&self, shown: &RenderedGroup<'_>) -> Result<Fragment> {
        let (group, row) = (shown.group, &shown.group.newest.listed.notification);
        let key = group.key.clone().unwrap_or_else(|| ungrouped(row.id));
        let mut object = Fragment::of(&Shared {
            group_key: &key,
            notifications_count: group.count,
            kind: &row.kind,
            most_recent_notification_id: row.id.into(),
            page_min_id: group.on_page.map(|on_page| on_page.min_id),
            page_max_id: group.on_page.map(|on_page| on_page.max_id),
            latest_page_notification_at: group.on_page.map(|on_page| on_page.latest_at.to_api()),
            sample_account_ids: &shown.accounts,
            status_id: row.status_id,
        })?
        .open();
        if let Member::Of(name, value) = self.attached.of(&group.newest) {
            object.member(name, value.as_str());
        }
        let sender = shown.accounts.first().and_then(|id| self.statuses.authors.get(id));
        if let Some((fallbacks, sender)) = self.fallbacks.zip(sender)
            && let Some(fallback) = fallbacks.of(&row.kind, sender)?
        {
            object.member("fallback", fallback.as_str());
        }
        if let Some(members) = self.added.of(self.targets[shown.place]) {
            members.add_to(&mut object);
        }
        Ok(object.close())
    }

    /// The complete accounts of groups, each once, and the partial ones if `expand` requests them.
    fn accounts(&self, shown: &[RenderedGroup<'_>], expand: ExpandAccounts) -> Result<(Vec<&str>, Option<Array>)> {
        let rendered = &self.statuses.authors;
        let whole = |shown: &&RenderedGroup<'_>| match expand {
            ExpandAccounts::Full => shown.accounts.len(),
            ExpandAccounts::PartialAvatars => 1,
        };
        let mut met = HashSet::new();
        let mut full: Vec<AccountId> = Vec::new();
        for group in shown {
            full.extend(group.accounts[..whole(&group)].iter().filter(|id| met.insert(**id)));
        }
        let full = full.iter().filter_map(|id| rendered.get(id)).map(AsRef::as_ref).collect();
        if expand == ExpandAccounts::Full {
            return Ok((full, None));
        }
        let mut partial = Vec::new();
        for id in shown.iter().flat_map(|group| &group.accounts) {
            if let Some(text) = rendered.get(id).filter(|_| met.insert(*id)) {
                let part: PartialAccount = serde_json::from_str(text).map_err(Error::internal)?;
                partial.push(Fragment::of(&part)?);
            }
        }
        Ok((full, Some(partial.into())))
    }
}

/// Members that plugins add to groups, requested for every sample.
async fn added(cx: &Cx, actor: &Actor, groups: &[Group]) -> Decorations {
    if !cx.extensions().decorates(Entity::NotificationGroup) {
        return Decorations::default();
    }
    let targets = groups.iter().flat_map(|group| {
        let id = group.newest.listed.notification.id;
        group.samples.iter().map(move |row| target(id, &row.notification))
    });
    cx.extensions().decorate(cx, Some(actor), Entity::NotificationGroup, targets.collect(), &[]).await
}
