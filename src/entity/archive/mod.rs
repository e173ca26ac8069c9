//! The contents of an archive: `actor.json`, `outbox.json`, `likes.json`, `bookmarks.json`, `account.json` with the
//! remaining data, and the files under their storage keys.

mod zip;

use std::path::Path;

use crate::activity::{self, CONTEXT, Files};
use context::Cx;
use context::error::{Error, Result};
use media::storage::{self, LARGEST_BYTES};
use model::{Account, RowId, Status, StatusId};
use zip::Zip;

/// Statuses and other rows per page.
const PAGE: i64 = 100;

/// Writes the archive of `account` to `path`, and its progress to the row of `archive`. Returns its size in bytes.
pub async fn write(cx: &Cx, account: &Account, path: &Path, archive: Option<RowId>) -> Result<i64> {
    let zip = Zip::create(path);
    // Always wait for the writer, so that its folder is not deleted while it writes.
    let written = fill(cx, &zip, account, archive).await;
    let size_bytes = zip.finish().await;
    written?;
    size_bytes
}

async fn fill(cx: &Cx, zip: &Zip, account: &Account, archive: Option<RowId>) -> Result<()> {
    write_actor(cx, zip, account).await?;
    write_outbox(cx, zip, account, archive).await?;
    let mut likes = Collection::begin(zip, "likes.json").await;
    let mut after = RowId::from(0);
    loop {
        let page = store::archive::list_favourites(&cx.db, account.id, after, PAGE).await?;
        let Some((last, _)) = page.last() else { break };
        after = *last;
        likes.uris(page.iter().map(|(_, uri)| uri.as_str())).await?;
    }
    likes.end().await;
    let mut bookmarks = Collection::begin(zip, "bookmarks.json").await;
    after = RowId::from(0);
    loop {
        let page = store::transfer::list_bookmarks(&cx.db, account.id, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = last.row_id;
        bookmarks.uris(page.iter().map(|row| row.uri.as_str())).await?;
    }
    bookmarks.end().await;
    let document = crate::account_document::document(cx, account.id, crate::account_document::WHOLE).await?;
    zip.document(crate::account_document::DOCUMENT).await;
    zip.text(format!("{document:#}")).await;
    write_files(cx, zip, account).await
}

async fn write_actor(cx: &Cx, zip: &Zip, account: &Account) -> Result<()> {
    let mut actor = activity::actor(cx, account, Files::Beside).await?.open();
    actor.member("@context", CONTEXT).member("likes", "\"likes.json\"").member("bookmarks", "\"bookmarks.json\"");
    zip.document("actor.json").await;
    zip.text(actor.close().into_string()).await;
    Ok(())
}

async fn write_outbox(cx: &Cx, zip: &Zip, account: &Account, archive: Option<RowId>) -> Result<()> {
    let mut outbox = Collection::begin(zip, "outbox.json").await;
    let (mut before, mut done) = (StatusId::from(i64::MAX), 0);
    loop {
        let page = store::archive::list_statuses(&cx.db, account.id, before, PAGE).await?;
        let Some(last) = page.last() else { break };
        before = last.id;
        let activities = activity::activities(cx, account, &page, Files::Beside).await?;
        outbox.items(activities.iter().map(|activity| activity.as_str())).await;
        done += i64::try_from(page.len()).unwrap_or(0);
        if let Some(archive) = archive {
            let mut tx = cx.db.begin().await?;
            store::archive::set_done(&mut tx, archive, done).await?;
            tx.commit().await?;
        }
    }
    outbox.end().await;
    Ok(())
}

/// The images of the account, and the files of its statuses.
async fn write_files(cx: &Cx, zip: &Zip, account: &Account) -> Result<()> {
    for key in [&account.avatar, &account.header].into_iter().flatten() {
        add_file(cx, zip, key).await?;
    }
    let mut before = StatusId::from(i64::MAX);
    loop {
        let page = store::archive::list_statuses(&cx.db, account.id, before, PAGE).await?;
        let Some(last) = page.last() else { return Ok(()) };
        before = last.id;
        let with_media: Vec<StatusId> = page.iter().filter(|status| status.has_media).map(id).collect();
        if with_media.is_empty() {
            continue;
        }
        for media in store::media::list_for_statuses(&cx.db, &with_media).await? {
            if let Some(key) = &media.file {
                add_file(cx, zip, key).await?;
            }
        }
    }
}

fn id(status: &Status) -> StatusId {
    status.id
}

async fn add_file(cx: &Cx, zip: &Zip, key: &str) -> Result<()> {
    // A string that is not a storage key cannot be one of our files.
    let Ok(parsed) = key.parse() else { return Ok(()) };
    match cx.storage.local_file(&parsed, LARGEST_BYTES).await {
        Ok(file) => zip.file(key.to_owned(), file).await,
        Err(storage::Error::NotFound) => {}
        Err(error) => return Err(Error::internal(error)),
    }
    Ok(())
}

/// An `OrderedCollection` that is written as its items arrive.
struct Collection<'a> {
    zip: &'a Zip,
    count: usize,
}

impl<'a> Collection<'a> {
    async fn begin(zip: &'a Zip, name: &'static str) -> Self {
        zip.document(name).await;
        let begin =
            format!("{{\"@context\":{CONTEXT},\"id\":\"{name}\",\"type\":\"OrderedCollection\",\"orderedItems\":[");
        zip.text(begin).await;
        Self { zip, count: 0 }
    }

    /// Adds items in JSON.
    async fn items<'s>(&mut self, items: impl Iterator<Item = &'s str>) {
        let mut text = String::new();
        for item in items {
            text.push_str(if self.count == 0 { "\n" } else { ",\n" });
            text.push_str(item);
            self.count += 1;
        }
        self.zip.text(text).await;
    }

    /// Adds URIs.
    async fn uris<'s>(&mut self, uris: impl Iterator<Item = &'s str>) -> Result<()> {
        let uris: Vec<String> = uris.map(serde_json::to_string).collect::<Result<_, _>>().map_err(Error::internal)?;
        self.items(uris.iter().map(String::as_str)).await;
        Ok(())
    }

    async fn end(self) {
        self.zip.text(format!("],\"totalItems\":{}}}", self.count)).await;
    }
}
