//! A zip file that is written as its contents arrive, in a thread that may block on the disk, with a few parts
//! buffered in memory.
//!
//! JSON is deflated; files are stored without compression, since images and videos are compressed already.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write as _};
use std::path::Path;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use context::error::{Error, Result};
use media::storage::LocalFile;

/// Most parts that wait for the disk.
const AHEAD: usize = 4;

enum Part {
    /// Starts a document.
    Document(&'static str),
    /// Appends to the current document.
    Text(String),
    /// A file with its name in the archive. Skipped if it no longer exists.
    File(String, LocalFile),
}

/// A zip file that is being written.
pub(super) struct Zip {
    parts: mpsc::Sender<Part>,
    writer: JoinHandle<io::Result<u64>>,
}

impl Zip {
    /// Starts the file at `path`.
    pub(super) fn create(path: &Path) -> Self {
        let (parts, arriving) = mpsc::channel(AHEAD);
        let path = path.to_owned();
        Self { parts, writer: tokio::task::spawn_blocking(move || write(&path, arriving)) }
    }

    /// Starts the document `name`.
    pub(super) async fn document(&self, name: &'static str) {
        self.send(Part::Document(name)).await;
    }

    /// Appends to the document that was started last.
    pub(super) async fn text(&self, text: String) {
        self.send(Part::Text(text)).await;
    }

    /// Adds `file` as `name`. A missing file is not an error.
    pub(super) async fn file(&self, name: String, file: LocalFile) {
        self.send(Part::File(name, file)).await;
    }

    /// A writer that failed accepts nothing more, and returns its error in [`Zip::finish`].
    async fn send(&self, part: Part) {
        let _ = self.parts.send(part).await;
    }

    /// Finishes the file. Returns its size in bytes.
    ///
    /// # Errors
    /// When the disk failed, including failures of earlier writes.
    pub(super) async fn finish(self) -> Result<i64> {
        drop(self.parts);
        let size = self.writer.await.map_err(Error::internal)?.map_err(|error| Error::of_file(&error))?;
        Ok(i64::try_from(size).unwrap_or(i64::MAX))
    }
}

fn write(path: &Path, mut arriving: mpsc::Receiver<Part>) -> io::Result<u64> {
    let file = File::options().write(true).create_new(true).open(path)?;
    let mut zip = ZipWriter::new(BufWriter::new(file));
    // A document or a file may be larger than 4 GiB.
    let deflated = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).large_file(true);
    let stored = deflated.compression_method(CompressionMethod::Stored);
    while let Some(part) = arriving.blocking_recv() {
        match part {
            Part::Document(name) => zip.start_file(name, deflated)?,
            Part::Text(text) => zip.write_all(text.as_bytes())?,
            Part::File(name, file) => match File::open(file.path()) {
                Ok(opened) => {
                    zip.start_file(name, stored)?;
                    io::copy(&mut BufReader::new(opened), &mut zip)?;
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            },
        }
    }
    let file = zip.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    Ok(file.metadata()?.len())
}
