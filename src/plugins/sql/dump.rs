//! What a plugin keeps, written to a file before it is dropped: one line of JSON for each row.
//!
//! `{"table": "notes", "row": {"id": 1, "title": "first"}}`, blobs as base64; small values are rows of `plugin_kv`. Read row by
//! row, with no transaction open: the plugin must not serve any more, and [`Dump::is_whole`] says whether it was so.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use futures_util::StreamExt as _;
use serde::Serialize;
use serde_json::Value as Json;
use tokio::fs::{self, File, OpenOptions};
use tokio::io::{AsyncWriteExt as _, BufWriter};

use super::account::{encoded, records};
use crate::app::App;
use crate::error::{Error, Result};
use store::confined::Scope;
use store::plugin::Plugin;
use store::{Tx, plugin_kv};

/// The folder in `storage.data_dir`.
const FOLDER: &str = "plugin-dumps";

/// Small values that are read at once.
const VALUES: u16 = 100;

/// A file that was written.
#[derive(Debug)]
pub struct Dump {
    /// Where.
    pub path: PathBuf,
    scope: Scope,
    /// How many rows of each table.
    rows: BTreeMap<String, i64>,
}

#[derive(Serialize)]
struct Line<'a> {
    table: &'a str,
    row: Json,
}

/// Writes all that `plugin` keeps to a new file, which only the server's own user may read.
///
/// # Errors
/// [`Error::Invalid`] when it cannot be written, else the database's; there is no file then.
pub async fn dump(app: &App, plugin: &Plugin) -> Result<Dump> {
    let folder = app.config.storage.data_dir.join(FOLDER);
    let path = folder.join(format!("{}-{}.jsonl", plugin.name, app.clock.now().format("%Y%m%dT%H%M%SZ")));
    let file = create(&folder, &path).await.map_err(|error| unwritable(&path, &error))?;
    let filled = fill(app, plugin, &path, file).await;
    if filled.is_err() {
        let _ = fs::remove_file(&path).await;
    }
    Ok(Dump { scope: Scope::find(&app.db, &plugin.name, BTreeSet::new()).await?, rows: filled?, path })
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    Error::invalid(format!("nothing was dropped, since {} cannot be written: {error}", path.display()))
}

async fn create(folder: &Path, path: &Path) -> std::io::Result<BufWriter<File>> {
    fs::create_dir_all(folder).await?;
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).await?;
    Ok(BufWriter::new(file))
}

async fn fill(app: &App, plugin: &Plugin, path: &Path, mut file: BufWriter<File>) -> Result<BTreeMap<String, i64>> {
    let scope = Scope::find(&app.db, &plugin.name, BTreeSet::new()).await?;
    let mut tx = app.db.begin().await?;
    let tables = tx.tables_of(&scope).await?;
    drop(tx);
    let mut counts = BTreeMap::new();
    for table in tables {
        let name = table.trim_start_matches(scope.prefix.as_str());
        let (mut count, mut rows) = (0, app.db.rows_of(&scope, &table));
        while let Some(row) = rows.next().await {
            let Json::Array(records) = records(row?) else { continue };
            for row in records {
                write(&mut file, &Line { table: name, row }).await.map_err(|error| unwritable(path, &error))?;
                count += 1;
            }
        }
        counts.insert(table, count);
    }
    values(app, plugin, path, &mut file).await?;
    let done = async {
        file.flush().await?;
        file.get_ref().sync_all().await
    };
    done.await.map_err(|error| unwritable(path, &error))?;
    Ok(counts)
}

async fn values(app: &App, plugin: &Plugin, path: &Path, file: &mut BufWriter<File>) -> Result<()> {
    let mut after = String::new();
    loop {
        let items = plugin_kv::scan(&app.db, plugin.id, ("", &after), VALUES, app.clock.now()).await?;
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
    /// False when a table has other rows in `tx` than were written, or there is another table.
    ///
    /// # Errors
    /// When the database does.
    pub async fn is_whole(&self, tx: &mut Tx) -> Result<bool> {
        let tables = tx.tables_of(&self.scope).await?;
        for table in &tables {
            if Some(&tx.count_of(&self.scope, table).await?) != self.rows.get(table) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
