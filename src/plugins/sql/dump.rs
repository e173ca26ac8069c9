//! Dumps a plugin's data to a file before it is dropped: JSON Lines, one row each.
//!
//! `{"table": "notes", "row": {"id": 1, "title": "first"}}`, blobs in base64; key-value entries are rows of
//! `plugin_kv`. Read row by row, with no transaction open: the plugin must be inactive, and [`Dump::is_whole`] verifies
//! that nothing was missed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use futures_util::StreamExt as _;
use serde::Serialize;
use serde_json::Value as Json;
use tokio::fs::File;
use tokio::io::{AsyncWriteExt as _, BufWriter};

use crate::Cx;
use config::folder::TrustedFolder;
use context::error::{Error, Result};
use database::Tx;
use database::confined::Scope;
use store::plugin::Plugin;
use store::plugin_data::{encoded, records};
use store::plugin_kv;

/// The folder in `storage.data_dir`.
const FOLDER: &str = "plugin-dumps";

/// Key-value entries per read.
const VALUES: u16 = 100;

/// A dump that was written.
#[derive(Debug)]
pub struct Dump {
    pub path: PathBuf,
    scope: Scope,
    /// Number of rows by table.
    rows: BTreeMap<String, i64>,
}

#[derive(Serialize)]
struct Line<'a> {
    table: &'a str,
    row: Json,
}

/// Writes all data of `plugin` to a new file, readable only by the server's own user.
///
/// # Errors
/// [`Error::Invalid`] when it cannot be written, else the database's; no file is left then.
pub async fn dump(cx: &Cx, plugin: &Plugin) -> Result<Dump> {
    let folder = cx.config.storage.data_dir.join(FOLDER);
    let path = folder.join(format!("{}-{}.jsonl", plugin.name, cx.clock.now().format("%Y%m%dT%H%M%S%3fZ")));
    let (folder, file) = create(&folder, &path).map_err(|error| unwritable(&path, &error))?;
    let filled = fill(cx, plugin, &path, file).await;
    if filled.is_err() {
        let _ = folder.remove(path.file_name().unwrap_or_default());
    }
    Ok(Dump { scope: Scope::find(&cx.db, &plugin.name, BTreeSet::new()).await?, rows: filled?, path })
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    Error::invalid(format!("nothing was deleted, since {} cannot be written: {error}", path.display()))
}

fn create(folder: &Path, path: &Path) -> std::io::Result<(TrustedFolder, BufWriter<File>)> {
    let folder = TrustedFolder::create(folder)?;
    let file = folder.create_new(path.file_name().unwrap_or_default())?;
    Ok((folder, BufWriter::new(File::from_std(file))))
}

async fn fill(cx: &Cx, plugin: &Plugin, path: &Path, mut file: BufWriter<File>) -> Result<BTreeMap<String, i64>> {
    let scope = Scope::find(&cx.db, &plugin.name, BTreeSet::new()).await?;
    let mut tx = cx.db.begin().await?;
    let tables = tx.list_tables(&scope).await?;
    drop(tx);
    let mut counts = BTreeMap::new();
    for table in tables {
        let name = table.trim_start_matches(scope.prefix.as_str());
        let (mut count, mut rows) = (0, cx.db.stream_rows(&scope, &table));
        while let Some(row) = rows.next().await {
            let Json::Array(records) = records(row?) else { continue };
            for row in records {
                write(&mut file, &Line { table: name, row }).await.map_err(|error| unwritable(path, &error))?;
                count += 1;
            }
        }
        counts.insert(table, count);
    }
    values(cx, plugin, path, &mut file).await?;
    let done = async {
        file.flush().await?;
        file.get_ref().sync_all().await
    };
    done.await.map_err(|error| unwritable(path, &error))?;
    Ok(counts)
}

async fn values(cx: &Cx, plugin: &Plugin, path: &Path, file: &mut BufWriter<File>) -> Result<()> {
    let mut after = String::new();
    loop {
        let items = plugin_kv::list(&cx.db, plugin.id, ("", &after, VALUES), cx.clock.now(), usize::MAX).await?;
        let items = items.unwrap_or_default();
        let Some(last) = items.last() else { return Ok(()) };
        after.clone_from(&last.key);
        for item in items {
            let expires_at = item.expires_at.map(|at| at.timestamp_millis());
            let row = serde_json::json!({ "key": item.key, "value": encoded(&item.value), "expires_at": expires_at });
            write(file, &Line { table: "plugin_kv", row }).await.map_err(|error| unwritable(path, &error))?;
        }
    }
}

async fn write(file: &mut BufWriter<File>, line: &Line<'_>) -> std::io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    file.write_all(&text).await
}

impl Dump {
    /// False when a table in `tx` has another number of rows than was written, or there is another table.
    pub async fn is_whole(&self, tx: &mut Tx) -> Result<bool> {
        let tables = tx.list_tables(&self.scope).await?;
        for table in &tables {
            if Some(&tx.count_rows(&self.scope, table).await?) != self.rows.get(table) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
