//! Host functions of the server's data: reading (`core`), changing (`core-write`) and feeds.

use wasmtime::Result;

use super::cost;
use crate::bindings::imports::types::{Account, Failure, Page, Relationship, Status, Viewer};
use crate::bindings::imports::{core, core_write, feeds};
use crate::byte_size::ByteSize;
use crate::state::State;

impl core::Host for State {
    async fn statuses(&mut self, viewer: Viewer, ids: Vec<i64>) -> Result<Result<Vec<Option<Status>>, Failure>> {
        let bytes = ids.heap_bytes();
        self.wait("core.statuses", 2, bytes, move |host| host.statuses(viewer, ids)).await
    }

    async fn accounts(&mut self, ids: Vec<i64>) -> Result<Result<Vec<Option<Account>>, Failure>> {
        let bytes = ids.heap_bytes();
        self.wait("core.accounts", 2, bytes, |host| host.accounts(ids)).await
    }

    async fn accounts_by_acct(&mut self, accts: Vec<String>) -> Result<Result<Vec<Option<Account>>, Failure>> {
        let bytes = accts.heap_bytes();
        self.wait("core.accounts-by-acct", 2, bytes, |host| host.accounts_by_acct(accts)).await
    }

    async fn relationships(&mut self, of: i64, others: Vec<i64>) -> Result<Result<Vec<Relationship>, Failure>> {
        let bytes = others.heap_bytes();
        self.wait("core.relationships", 2, bytes, move |host| host.relationships(of, others)).await
    }

    async fn visible(&mut self, viewer: Viewer, ids: Vec<i64>) -> Result<Result<Vec<bool>, Failure>> {
        let bytes = ids.heap_bytes();
        self.wait("core.visible", 2, bytes, move |host| host.visible(viewer, ids)).await
    }

    async fn followers_among(&mut self, of: i64, among: Vec<i64>) -> Result<Result<Vec<i64>, Failure>> {
        let bytes = among.heap_bytes();
        self.wait("core.followers-among", 2, bytes, move |host| host.followers_among(of, among)).await
    }

    async fn emojis(&mut self, names: Vec<String>) -> Result<Result<Vec<Option<core::Emoji>>, Failure>> {
        let bytes = names.heap_bytes();
        self.wait("core.emojis", 2, bytes, |host| host.emojis(names)).await
    }

    async fn normalise(&mut self, kind: String, texts: Vec<String>) -> Result<Result<Vec<Option<String>>, Failure>> {
        let bytes = kind.heap_bytes() + texts.heap_bytes();
        self.wait("core.normalise", 1, bytes, move |host| host.normalise(kind, texts)).await
    }
}

impl core_write::Host for State {
    async fn create_statuses(
        &mut self,
        items: Vec<core_write::NewStatus>,
    ) -> Result<Result<Vec<Result<i64, Failure>>, Failure>> {
        let (units, bytes) = (cost(20, 20, items.len()), items.heap_bytes());
        self.wait("core-write.create-statuses", units, bytes, |host| host.create_statuses(items)).await
    }

    async fn delete_statuses(&mut self, ids: Vec<i64>) -> Result<Result<u32, Failure>> {
        let (units, bytes) = (cost(20, 20, ids.len()), ids.heap_bytes());
        self.wait("core-write.delete-statuses", units, bytes, |host| host.delete_statuses(ids)).await
    }

    async fn bookmark(&mut self, account: i64, statuses: Vec<i64>) -> Result<Result<Vec<bool>, Failure>> {
        let bytes = statuses.heap_bytes();
        self.wait("core-write.bookmark", 5, bytes, move |host| host.bookmark(account, statuses)).await
    }

    async fn notify(&mut self, items: Vec<core_write::NewNotification>) -> Result<Result<u32, Failure>> {
        let bytes = items.heap_bytes();
        self.wait("core-write.notify", 5, bytes, |host| host.notify(items)).await
    }

    async fn retract(&mut self, kind: String, activities: Vec<i64>) -> Result<Result<u32, Failure>> {
        let bytes = kind.heap_bytes() + activities.heap_bytes();
        self.wait("core-write.retract", 2, bytes, move |host| host.retract(kind, activities)).await
    }

    async fn touch(&mut self, kind: String, ids: Vec<i64>) -> Result<Result<(), Failure>> {
        let bytes = kind.heap_bytes() + ids.heap_bytes();
        self.wait("core-write.touch", 2, bytes, move |host| host.touch(kind, ids)).await
    }

    async fn remove_profile_images(&mut self, account: i64, images: Vec<String>) -> Result<Result<u32, Failure>> {
        let (name, bytes) = ("core-write.remove-profile-images", images.heap_bytes());
        self.wait(name, 5, bytes, move |host| host.remove_profile_images(account, images)).await
    }

    async fn follow(&mut self, account: i64, targets: Vec<i64>) -> Result<Result<Vec<bool>, Failure>> {
        let (units, bytes) = (cost(5, 20, targets.len()), targets.heap_bytes());
        self.wait("core-write.follow", units, bytes, move |host| host.follow(account, targets)).await
    }
}

impl feeds::Host for State {
    async fn insert(&mut self, entries: Vec<feeds::Entry>) -> Result<Result<u32, Failure>> {
        let bytes = entries.heap_bytes();
        self.wait("feeds.insert", 5, bytes, |host| host.feeds_insert(entries)).await
    }

    async fn remove(&mut self, feed: feeds::Feed, ids: Vec<i64>) -> Result<Result<u32, Failure>> {
        let bytes = feed.heap_bytes() + ids.heap_bytes();
        self.wait("feeds.remove", 2, bytes, move |host| host.feeds_remove(feed, ids)).await
    }

    async fn remove_authors(&mut self, feeds: Vec<feeds::Feed>, authors: Vec<i64>) -> Result<Result<u32, Failure>> {
        let bytes = feeds.heap_bytes() + authors.heap_bytes();
        self.wait("feeds.remove-authors", 2, bytes, move |host| host.feeds_remove_authors(feeds, authors)).await
    }

    async fn range(&mut self, feed: feeds::Feed, page: Page) -> Result<Result<Vec<i64>, Failure>> {
        let bytes = feed.heap_bytes();
        self.wait("feeds.range", 2, bytes, move |host| host.feeds_range(feed, page)).await
    }

    async fn drop_feeds(&mut self, feeds: Vec<feeds::Feed>) -> Result<Result<(), Failure>> {
        let bytes = feeds.heap_bytes();
        self.wait("feeds.drop-feeds", 2, bytes, |host| host.feeds_drop(feeds)).await
    }
}
