//! Serves the built files of another web client at `/client`, from the folder `web.client_folder`.
//!
//! For clients like Phanpy and Elk, whose scripts run on the origin of this server then. A path that names no file, and
//! whose last segment looks like none, gets `index.html`, for such clients route by themselves. Names with a hash of the
//! content are cacheable for a year. Links in the folder, names that begin with a dot and lists of folders are not
//! served. Files are read in blocking tasks; only pages are held in memory, for the hashes of their inline scripts.
//!
//! Spec: RFC 9110, sections 13 and 14; <https://www.w3.org/TR/CSP3/>

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path as FsPath;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};

use super::client_file_names::{has_hash, is_text, media_type};
use super::extract::Path;
use super::files::{self, Requested};
use super::inline_scripts;
use super::path_normalisation::TrailingSlash;
use super::web::redirect;
use crate::Cx;
use crate::error::{Error, Result};

const INDEX: &str = "index.html";
/// Larger pages are served without hashes of their inline scripts, which do not run then.
const PAGE_LIMIT_BYTES: u64 = 8 * 1024 * 1024;
/// How much of a file is read at once.
const CHUNK_BYTES: u64 = 64 * 1024;

/// For names with a hash of the content.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";
/// For pages and all other names: they are checked by their `ETag` each time.
const CHECKED: &str = "no-cache";

/// `GET /client`
pub(crate) async fn root(cx: Cx, uri: Uri, slash: TrailingSlash, sent: HeaderMap) -> Result<Response> {
    respond(&cx, String::new(), &uri, slash, &sent).await
}

/// `GET /client/{path}`
pub(crate) async fn show(
    cx: Cx,
    Path(path): Path<String>,
    uri: Uri,
    slash: TrailingSlash,
    sent: HeaderMap,
) -> Result<Response> {
    respond(&cx, path, &uri, slash, &sent).await
}

/// # Errors
/// [`Error::NotFound`] without a client, and for a path that leads to no file.
async fn respond(cx: &Cx, path: String, uri: &Uri, slash: TrailingSlash, sent: &HeaderMap) -> Result<Response> {
    let Some(folder) = cx.config.web.client_folder.clone() else { return Err(Error::NotFound.into()) };
    let found = tokio::task::spawn_blocking(move || find(&folder, &path, slash.0)).await.map_err(Error::internal)?;
    match found.map_err(|error| unreadable(&error))? {
        Found::Nothing => Err(Error::NotFound.into()),
        Found::Folder => {
            let query = uri.query().map_or_else(String::new, |query| format!("?{query}"));
            Ok(redirect(&format!("{}/{query}", uri.path())))
        }
        Found::File(file) => Ok(serve(cx, file, sent).await?),
    }
}

fn unreadable(error: &io::Error) -> Error {
    tracing::error!(%error, "could not read a file in web.client_folder: {error}");
    Error::Unavailable("The file cannot be read now, try again".into())
}

/// The target of a path.
enum Found {
    File(Opened),
    /// A folder with an index, at a path without a slash at its end: relative addresses in the index need one.
    Folder,
    Nothing,
}

/// An open file.
struct Opened {
    /// Its path in the folder.
    name: String,
    file: File,
    length_bytes: u64,
    /// When it was modified, in nanoseconds since 1970.
    modified_ns: i64,
    /// The content of a page.
    page: Option<Vec<u8>>,
}

/// An entry of a folder.
enum Entry {
    File(File),
    Folder(File),
}

/// The target of `path` in `folder`; it ended with a `slash`, which is not part of it.
fn find(folder: &FsPath, path: &str, slash: bool) -> io::Result<Found> {
    let names: Vec<&str> = path.split('/').filter(|_| !path.is_empty()).collect();
    if names.iter().any(|name| name.is_empty() || name.starts_with('.') || name.contains(['\\', '\0'])) {
        return Ok(Found::Nothing);
    }
    // The folder itself may be a link: to the current one of several versions.
    let root = File::open(folder)?;
    match enter(&root, &names)? {
        Some(Entry::File(file)) if !slash => return Opened::read(path.to_owned(), file).map(Found::File),
        Some(Entry::File(_)) => return Ok(Found::Nothing),
        Some(Entry::Folder(folder)) => match enter(&folder, &[INDEX])? {
            Some(Entry::File(_)) if !slash => return Ok(Found::Folder),
            Some(Entry::File(file)) => return Opened::read(format!("{path}/{INDEX}"), file).map(Found::File),
            Some(Entry::Folder(_)) | None => {}
        },
        None => {}
    }
    match enter(&root, &[INDEX])? {
        Some(Entry::File(file)) if is_page(names.last().unwrap_or(&"")) => {
            Opened::read(format!("/{INDEX}"), file).map(Found::File)
        }
        Some(_) | None => Ok(Found::Nothing),
    }
}

/// True for the last segment of an address within a client: it has no extension, or is an account (`@rook@example.org`).
fn is_page(name: &str) -> bool {
    !name.contains('.') || name.starts_with('@')
}

/// The entry at `names` below `folder`. `None` when there is none, or it is a link or below a link.
fn enter(folder: &File, names: &[&str]) -> io::Result<Option<Entry>> {
    // A pipe must not block.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut at = folder.try_clone()?;
    for name in names {
        at = match openat(&at, *name, flags, Mode::empty()) {
            Ok(entry) => entry.into(),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NAMETOOLONG | Errno::NXIO) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
    }
    let kind = at.metadata()?.file_type();
    Ok(if kind.is_file() { Some(Entry::File(at)) } else { kind.is_dir().then_some(Entry::Folder(at)) })
}

impl Opened {
    fn read(name: String, mut file: File) -> io::Result<Self> {
        let known = file.metadata()?;
        let (mut length_bytes, mut page) = (known.len(), None);
        if media_type(&name).starts_with("text/html") && length_bytes <= PAGE_LIMIT_BYTES {
            let mut bytes = Vec::new();
            (&mut file).take(PAGE_LIMIT_BYTES).read_to_end(&mut bytes)?;
            length_bytes = bytes.len() as u64;
            page = Some(bytes);
        }
        let modified_ns = known.mtime().wrapping_mul(1_000_000_000).wrapping_add(known.mtime_nsec());
        Ok(Self { name, file, length_bytes, modified_ns, page })
    }

    fn tag(&self) -> String {
        format!("\"{:x}-{:x}\"", self.modified_ns, self.length_bytes)
    }
}

/// Sends a file, or the requested part of it.
async fn serve(cx: &Cx, file: Opened, sent: &HeaderMap) -> Result<Response, Error> {
    let kind = media_type(&file.name);
    let tag = file.tag();
    let mut headers = HeaderMap::new();
    let policy = policy(&scripts(cx, &file));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::try_from(policy).map_err(Error::internal)?);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    let immutable = file.page.is_none() && has_hash(&file.name);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(if immutable { IMMUTABLE } else { CHECKED }));
    // Text may be compressed, so its bytes differ under one tag, and it has no ranges.
    let is_text = is_text(kind);
    let shown = if is_text { format!("W/{tag}") } else { tag.clone() };
    headers.insert(header::ETAG, HeaderValue::try_from(shown).map_err(Error::internal)?);
    if !is_text {
        headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    }
    if sent.get_all(header::IF_NONE_MATCH).iter().any(|sent| files::matches_tag(sent, &tag)) {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    let requested = if is_text { Requested::Whole } else { Requested::of(sent, &tag, file.length_bytes) };
    let body = match requested {
        Requested::Whole => content(file).await,
        Requested::Unsatisfiable => return Ok((headers, files::unsatisfiable(file.length_bytes)).into_response()),
        Requested::Part(range) => {
            let length_bytes = file.length_bytes;
            let bytes = part(file, range.start, range.end - range.start).await.map_err(|error| unreadable(&error))?;
            return Ok((headers, files::partial(&range, length_bytes, bytes)).into_response());
        }
    };
    Ok((headers, body).into_response())
}

async fn content(file: Opened) -> Response {
    let length = file.length_bytes;
    let body = match file.page {
        Some(page) => page.into(),
        None => Body::from_stream(stream::try_unfold((tokio::fs::File::from_std(file.file), length), chunk)),
    };
    files::whole(length, body)
}

/// The next chunk of a file of which `left` bytes remain.
async fn chunk((mut file, left): (tokio::fs::File, u64)) -> io::Result<Option<(Bytes, (tokio::fs::File, u64))>> {
    let mut bytes = Vec::new();
    let read = (&mut file).take(left.min(CHUNK_BYTES)).read_to_end(&mut bytes).await?;
    Ok((read > 0).then(|| (bytes.into(), (file, left - read as u64))))
}

async fn part(file: Opened, start: u64, length: u64) -> io::Result<Bytes> {
    let mut file = tokio::fs::File::from_std(file.file);
    file.seek(io::SeekFrom::Start(start)).await?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes).await?;
    Ok(bytes.into())
}

/// The sources of the inline scripts of a page, each with a space before it; empty for another file.
fn scripts(cx: &Cx, file: &Opened) -> std::sync::Arc<str> {
    let Some(page) = &file.page else { return "".into() };
    let key = (file.name.clone(), file.modified_ns, file.length_bytes);
    if let Some(known) = cx.caches.client_scripts.get(&key) {
        return known;
    }
    let sources: std::sync::Arc<str> = inline_scripts::sources(page).into();
    cx.caches.client_scripts.insert(key, std::sync::Arc::clone(&sources));
    sources
}

/// The content policy of a client: scripts are its own, and it talks to any server.
fn policy(scripts: &str) -> String {
    format!(
        "default-src 'self'; script-src 'self'{scripts}; style-src 'self' 'unsafe-inline'; font-src 'self' data:; \
         img-src 'self' https: data: blob:; media-src 'self' https: data: blob:; \
         connect-src 'self' https: wss: data: blob:; worker-src 'self' blob:; object-src 'none'; base-uri 'self'; \
         form-action 'self'; frame-ancestors 'none'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_within_a_client_have_no_extension() {
        assert!(is_page("") && is_page("settings") && is_page("@rook@example.org"));
        assert!(!is_page("gone.js") && !is_page("favicon.ico"));
    }
}
