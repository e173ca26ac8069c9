//! The rows of a statement one by one, from a blocking thread: for exports, which may not fit in memory.

use std::sync::Arc;

use futures_util::stream::{BoxStream, StreamExt as _, unfold};
use rusqlite::types::ValueRef;
use tokio::sync::mpsc;

use super::readers::Readers;
use crate::{Error, Result};

/// Number of rows to read ahead.
const AHEAD: usize = 64;

impl Readers {
    /// The rows of `text`, each built by `take` from the names and values of its columns. Ends when the stream is
    /// dropped.
    pub(crate) fn stream<T: Send + 'static>(
        self: &Arc<Self>,
        text: String,
        take: impl Fn(&[&str], &[ValueRef<'_>]) -> Result<T> + Send + 'static,
    ) -> BoxStream<'static, Result<T>> {
        let (rows, taken) = mpsc::channel(AHEAD);
        let pool = Arc::clone(self);
        tokio::spawn(async move {
            let reader = match pool.take().await {
                Ok(reader) => reader,
                Err(error) => return drop(rows.send(Err(error)).await),
            };
            let reading = tokio::task::spawn_blocking(move || {
                if let Err(error) = reader.open().and_then(|reader| read(reader.connection()?, &text, &take, &rows)) {
                    let _ = rows.blocking_send(Err(error));
                }
            });
            if let Err(error) = reading.await {
                tracing::error!(%error, "the rows of a table were not read to their end");
            }
        });
        unfold(taken, |mut taken| async { taken.recv().await.map(|row| (row, taken)) }).boxed()
    }
}

fn read<T>(
    connection: &super::Connection,
    text: &str,
    take: &impl Fn(&[&str], &[ValueRef<'_>]) -> Result<T>,
    rows: &mpsc::Sender<Result<T>>,
) -> Result<()> {
    let mut statement = connection.raw.prepare(text)?;
    let mut found = statement.raw_query();
    while let Some(row) = found.next()? {
        let statement = row.as_ref();
        let names = statement.column_names();
        let values: rusqlite::Result<Vec<_>> = (0..names.len()).map(|index| row.get_ref(index)).collect();
        let row = take(&names, &values.map_err(Error::from)?);
        if rows.blocking_send(row).is_err() {
            return Ok(());
        }
    }
    Ok(())
}
