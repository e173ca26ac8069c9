//! Feeds: ordered sets of statuses (contract: interface `feeds`), for home, lists and the plugin's own.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use async_trait::async_trait;
use rookery_plugin_host::host::Feeds;
use rookery_plugin_host::imports::feeds::{Entry, Feed as Named};
use rookery_plugin_host::imports::types::{Failure, Page};

use super::Call;
use super::core::{cursor, distinct};
use crate::failure::{OrFailure as _, at_most, denied, failure};
use context::change::{self, Change};
use context::queue::{self, PLUGIN_FEED_LENGTH, TrimFeeds};
use database::Tx;
use model::{RowId, StatusId};
use service::list;
use store::feed::{self, Entries, Feed, HOME, LIST, Reblogs, Source};
use store::plugin_feed::{self, NewEntry};

/// Most entries of one call.
pub const ENTRIES: usize = 50_000;
/// Most feeds, ids or authors of one call.
const ITEMS: usize = 10_000;

#[async_trait]
impl Feeds for Call {
    async fn insert(&self, entries: Vec<Entry>) -> Result<u32, Failure> {
        at_most(entries.len(), ENTRIES, "entries")?;
        self.check_feeds(entries.iter().map(|entry| &entry.feed))?;
        if entries.is_empty() {
            return Ok(0);
        }
        let charged = self.charge_entries(&entries).await?;
        let mut work = self.change().await?;
        let tx = work.tx()?;
        let kinds = self.kinds(tx, names(entries.iter().map(|entry| &entry.feed))).await?;
        let rows: Vec<NewEntry> = entries.iter().filter_map(|entry| row(&kinds, entry)).collect();
        let entered = plugin_feed::insert(tx, &rows, self.cx.clock.now()).await.or_failure()?;
        let own: Vec<i64> = entered.iter().map(|(kind, ..)| *kind).filter(|kind| *kind > LIST).collect();
        // Entries that existed already or were refused do not count.
        self.active.quotas.feed_entries.give_back(charged.saturating_sub(own.len() as u64));
        let own: BTreeSet<i64> = own.into_iter().collect();
        for kind in own {
            let trim = TrimFeeds { kind, after: 0 };
            queue::enqueue_at(&self.cx, tx, &trim, self.cx.clock.now() + TrimFeeds::DELAY).await.or_failure()?;
        }
        let count = u32::try_from(entered.len()).unwrap_or(u32::MAX);
        let pushed: HashSet<(i64, i64, i64)> = entries
            .iter()
            .filter(|entry| entry.push)
            .filter_map(|entry| row(&kinds, entry))
            .map(|row| (row.feed.kind, row.feed.owner, row.status))
            .collect();
        let mut owners: BTreeMap<(i64, StatusId), Vec<i64>> = BTreeMap::new();
        let mut lists: Vec<(RowId, StatusId)> = Vec::new();
        for (kind, owner, status) in entered {
            if pushed.contains(&(kind, owner, status.into())) {
                owners.entry((kind, status)).or_default().push(owner);
                lists.extend((kind == LIST).then(|| (owner.into(), status)));
            }
        }
        let changes: Vec<Change> =
            owners.into_iter().map(|((kind, status), owners)| Change::FeedEntered { kind, owners, status }).collect();
        change::record_all(&self.cx, tx, &changes).await.or_failure()?;
        list::notify_entered(&self.cx, tx, &lists).await.or_failure()?;
        work.done().await?;
        Ok(count)
    }

    async fn remove(&self, feed: Named, ids: Vec<i64>) -> Result<u32, Failure> {
        at_most(ids.len(), ITEMS, "ids")?;
        self.check_feeds([&feed])?;
        let mut work = self.change().await?;
        let tx = work.tx()?;
        let kinds = self.kinds(tx, names([&feed])).await?;
        let removed = match place(&kinds, &feed) {
            None => 0,
            Some(feed) => plugin_feed::delete(tx, feed, &distinct::<StatusId>(&ids)).await.or_failure()?,
        };
        work.done().await?;
        Ok(u32::try_from(removed).unwrap_or(u32::MAX))
    }

    async fn remove_authors(&self, feeds: Vec<Named>, authors: Vec<i64>) -> Result<u32, Failure> {
        at_most(feeds.len(), ITEMS, "feeds")?;
        at_most(authors.len(), ITEMS, "authors")?;
        self.check_feeds(&feeds)?;
        let mut work = self.change().await?;
        let tx = work.tx()?;
        let kinds = self.kinds(tx, names(&feeds)).await?;
        let places: Vec<Feed> = feeds.iter().filter_map(|feed| place(&kinds, feed)).collect();
        let removed = feed::delete_authors(tx, &places, &distinct(&authors), Reblogs::OfAuthor).await.or_failure()?;
        work.done().await?;
        Ok(u32::try_from(removed).unwrap_or(u32::MAX))
    }

    async fn range(&self, feed: Named, page: Page) -> Result<Vec<i64>, Failure> {
        self.check_feeds([&feed])?;
        let cursor = cursor(&page, (PLUGIN_FEED_LENGTH, PLUGIN_FEED_LENGTH));
        let source = match &feed {
            Named::Home(owner) => Source::Feed(Feed { kind: HOME, owner: *owner }),
            Named::ListOf(owner) => Source::Feed(Feed { kind: LIST, owner: *owner }),
            Named::Custom(feed) => Source::Named { plugin: self.active.id, name: &feed.name, key: feed.key },
        };
        let mut slot = self.slot.lock().await;
        let ids = match slot.tx() {
            Some(tx) => feed::page(tx, source, Entries::Existing, &cursor).await,
            None => {
                drop(slot);
                feed::page(&self.cx.db, source, Entries::Existing, &cursor).await
            }
        };
        Ok(ids.or_failure()?.into_iter().map(i64::from).collect())
    }

    async fn drop_feeds(&self, feeds: Vec<Named>) -> Result<(), Failure> {
        at_most(feeds.len(), ITEMS, "feeds")?;
        self.check_feeds(&feeds)?;
        if feeds.iter().any(|feed| !matches!(feed, Named::Custom(_))) {
            return Err(failure(403, "feeds.not-own", "Only feeds of the plugin's own can be dropped"));
        }
        let mut work = self.change().await?;
        let tx = work.tx()?;
        let kinds = self.kinds(tx, names(&feeds)).await?;
        let places: Vec<Feed> = feeds.iter().filter_map(|feed| place(&kinds, feed)).collect();
        plugin_feed::clear(tx, &places).await.or_failure()?;
        change::record(&self.cx, tx, Change::FeedsDropped { feeds: places }).await.or_failure()?;
        work.done().await
    }
}

impl Call {
    /// Charges the entries for feeds of the plugin's own to its quota, before they are inserted; returns how many.
    async fn charge_entries(&self, entries: &[Entry]) -> Result<u64, Failure> {
        let own = entries.iter().filter(|entry| matches!(entry.feed, Named::Custom(_))).count() as u64;
        let quota = &self.active.quotas.feed_entries;
        if own == 0 {
            return Ok(0);
        }
        quota.ready().await.or_failure()?;
        if quota.add(own) {
            return Ok(own);
        }
        let most = quota.most();
        Err(failure(507, "feeds.quota", format!("The plugin's feeds have reached the limit feed-entries, {most}")))
    }

    /// Checks the permission for each kind of feed, and that the manifest declares the plugin's own.
    fn check_feeds<'a>(&self, feeds: impl IntoIterator<Item = &'a Named>) -> Result<(), Failure> {
        let granted = &self.granted().feeds;
        for feed in feeds {
            let kind = match feed {
                Named::Home(_) => "home",
                Named::ListOf(_) => "list",
                Named::Custom(_) => "custom",
            };
            if !granted.iter().any(|granted| granted == kind) {
                return Err(denied(&format!("feeds = [\"{kind}\"]")));
            }
            if let Named::Custom(feed) = feed
                && !self.active.manifest.feeds.iter().any(|declared| declared.name == feed.name)
            {
                return Err(failure(403, "feeds.undeclared", format!("The manifest has no feed {:?}", feed.name)));
            }
        }
        Ok(())
    }

    /// The ids of the plugin's own feeds of these names.
    async fn kinds(&self, tx: &mut Tx, names: BTreeSet<String>) -> Result<HashMap<String, i64>, Failure> {
        let mut kinds = HashMap::new();
        for name in names {
            let kind = plugin_feed::get_or_insert_kind(&mut *tx, self.active.id, &name).await.or_failure()?;
            kinds.insert(name, kind);
        }
        Ok(kinds)
    }
}

/// The names among these that are the plugin's own feeds.
fn names<'a>(feeds: impl IntoIterator<Item = &'a Named>) -> BTreeSet<String> {
    let name = |feed: &Named| match feed {
        Named::Custom(feed) => Some(feed.name.clone()),
        Named::Home(_) | Named::ListOf(_) => None,
    };
    feeds.into_iter().filter_map(name).collect()
}

fn place(kinds: &HashMap<String, i64>, feed: &Named) -> Option<Feed> {
    Some(match feed {
        Named::Home(owner) => Feed { kind: HOME, owner: *owner },
        Named::ListOf(owner) => Feed { kind: LIST, owner: *owner },
        Named::Custom(feed) => Feed { kind: *kinds.get(&feed.name)?, owner: feed.key },
    })
}

fn row(kinds: &HashMap<String, i64>, entry: &Entry) -> Option<NewEntry> {
    Some(NewEntry { feed: place(kinds, &entry.feed)?, viewer: entry.viewer, status: entry.status })
}
