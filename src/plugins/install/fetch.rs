//! Where a package to install comes from, and getting it from there: the file and its signature, within bounds.
//!
//! Everything outside is asked by the server's one HTTP client, by `https`; by `http` only the networks of
//! `federation.allow_private_addresses`. Whether the signatures, of a package and of the index that named it, are trusted is
//! decided by [`trust`].

use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use outbound::{Beyond, Document, Fetch, FetchError, PlainHttp, Target};

use super::trust::{self, Terms};
use crate::Cx;
use context::error::{Error, Result};
use crypto::signature::{PublicKey, SIGNATURE_MAX, Signature};
use model::{Time, boxed};
use plugin_package::index::{self, Entry, INDEX_MAX, Index};
use plugin_package::package::{self, Origin, PACKED_MAX, Package, unpack};

/// The suffix of the file name of a signature.
pub const SIGNATURE: &str = ".minisig";

/// Where a package comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file of this machine.
    File(PathBuf),
    /// The URL of a package: it ends in `.plugin`.
    Package(Target),
    /// The URL of an index: any other.
    Index(Target),
}

impl Source {
    /// Parses a URL or a path.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a URL that cannot be fetched from.
    pub fn parse(text: &str) -> Result<Self> {
        if !text.contains("://") {
            return Ok(Self::File(text.into()));
        }
        let refuse = |error: outbound::Error| Error::invalid(format!("{text}: {error}"));
        let target = Target::parse(text).map_err(refuse)?;
        match target.url().split('?').next().unwrap_or_default() {
            url if url.ends_with(".plugin") => Ok(Self::Package(target)),
            url if url.ends_with('/') => Ok(Self::Index(target.join(index::FILE).map_err(refuse)?)),
            _ => Ok(Self::Index(target)),
        }
    }

    /// True for what comes from another machine.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        !matches!(self, Self::File(_))
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Package(target) | Self::Index(target) => f.write_str(target.url()),
        }
    }
}

/// A package that could be installed.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub package: Package,
    /// Its file, as it was signed.
    pub file: Vec<u8>,
    /// SHA-256 of the file.
    pub sha256: String,
    /// Its signature, which nobody checked yet.
    pub signature: Option<Signature>,
    /// The public key that came with it; nothing says whose it is.
    pub claimed: Option<PublicKey>,
    /// Where it came from.
    pub source: Source,
    /// The index that named it.
    pub listed: Option<Listed>,
}

/// An index that named a candidate.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Where it is.
    pub url: String,
    /// Its text, as it was signed.
    pub text: Vec<u8>,
    /// Its signature, which nobody checked yet.
    pub signature: Option<Signature>,
}

impl Listed {
    /// The time in its signature.
    #[must_use]
    pub fn signed_at(&self) -> Option<Time> {
        let seconds = self.signature.as_ref()?.timestamp()?;
        seconds.checked_mul(1_000_000).map(Time::from_micros)
    }
}

impl Candidate {
    /// The candidate of these bytes; blocks for as long as it takes to hash them.
    fn new(file: Vec<u8>, origin: PathBuf, signature: Option<Signature>, source: Source) -> Result<Self> {
        let claimed = signature.as_ref().and_then(Signature::claimed_key);
        let package = unpack(&file, Origin::File(origin)).map_err(|fault| {
            // Before anything that the file says of itself.
            let broken = claimed.as_ref().zip(signature.as_ref()).and_then(|(key, of)| key.verify(&file, of).err());
            broken.map_or_else(
                || Error::invalid(fault.to_string()),
                |error| Error::invalid(format!("the signature of {source} is not accepted: {error}")),
            )
        })?;
        Ok(Self { package, sha256: crypto::sha256_hex(&file), file, signature, claimed, source, listed: None })
    }

    /// The plugin's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.package.name()
    }

    /// The name of its file in the folder of plugins.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("{}-{}.plugin", self.name(), self.package.manifest.plugin.version)
    }
}

/// Gets the package from `source`; `name` says which one of an index.
///
/// # Errors
/// [`Error::Invalid`] in one sentence: it cannot be had, it is too large or too slow, it is no package, or not the one that
/// the index names.
#[boxed]
pub async fn fetch(cx: &Cx, name: Option<&str>, source: Source, terms: &Terms) -> Result<Candidate> {
    let candidate = match &source {
        Source::File(path) => read(path.clone(), source.clone()).await,
        Source::Package(target) => {
            let file = get(cx, target, PACKED_MAX).await?;
            let signature = signature_at(cx, target).await?;
            candidate(file, signature, source).await
        }
        Source::Index(target) => {
            let Some(name) = name else {
                return Err(Error::invalid(format!("{source} is an index: say which plugin of it, by name")));
            };
            from_index(cx, name, target.clone(), terms).await
        }
    }?;
    match name.filter(|name| *name != candidate.name()) {
        Some(name) => {
            Err(Error::invalid(format!("{} holds the plugin {}, and not {name}", candidate.source, candidate.name())))
        }
        None => Ok(candidate),
    }
}

/// As [`fetch`] for a plugin that was installed from `source`: for the URL of a package, whose versions have other URLs, the
/// index beside it is asked, if there is one.
///
/// # Errors
/// As [`fetch`].
#[boxed]
pub async fn fetch_again(cx: &Cx, name: &str, source: Source, terms: &Terms) -> Result<Candidate> {
    let Source::Package(target) = &source else { return fetch(cx, Some(name), source, terms).await };
    let Ok(beside) = target.join(index::FILE) else { return fetch(cx, Some(name), source, terms).await };
    match document(cx, &beside, INDEX_MAX).await {
        Ok(document) => from_index_document(cx, name, beside, document, terms).await,
        Err(FetchError::Status(404 | 410)) => fetch(cx, Some(name), source, terms).await,
        Err(error) => Err(failed(&beside, &error)),
    }
}

/// The candidate in a file; its signature is beside it.
///
/// # Errors
/// As [`fetch`].
pub async fn read(path: PathBuf, source: Source) -> Result<Candidate> {
    let read = move || {
        let unreadable = |error: std::io::Error| Error::invalid(format!("{}: {error}", path.display()));
        let file = package::read_bounded(&path).map_err(unreadable)?;
        let signature = read_signature(&path)?;
        Candidate::new(file, path, signature, source)
    };
    tokio::task::spawn_blocking(read).await.map_err(|error| Error::internal(error.to_string()))?
}

fn read_signature(package: &Path) -> Result<Option<Signature>> {
    let path = beside(package);
    let refuse = |cause: &dyn fmt::Display| Error::invalid(format!("{}: {cause}", path.display()));
    let file = match std::fs::File::open(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(|error| refuse(&error))?,
    };
    let mut text = String::new();
    file.take(SIGNATURE_MAX as u64 + 1).read_to_string(&mut text).map_err(|error| refuse(&error))?;
    Signature::parse(&text).map(Some).map_err(|error| refuse(&error))
}

/// Where the signature of the package at `path` is.
#[must_use]
pub fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(SIGNATURE);
    name.into()
}

async fn from_index(cx: &Cx, name: &str, target: Target, terms: &Terms) -> Result<Candidate> {
    let document = document(cx, &target, INDEX_MAX).await.map_err(|error| failed(&target, &error))?;
    from_index_document(cx, name, target, document, terms).await
}

/// Nothing that an index says is acted on before its signature was looked at: it could name any address.
async fn from_index_document(
    cx: &Cx,
    name: &str,
    index: Target,
    document: Document,
    terms: &Terms,
) -> Result<Candidate> {
    let within = |why: String| Error::invalid(format!("{}: {why}", index.url()));
    let signature = signature_at(cx, &index).await?;
    let listed = Listed { url: index.url().to_owned(), text: document.body.to_vec(), signature };
    trust::check_index(store::plugin_index::find(&cx.db, &listed.url).await?.as_ref(), &listed, terms)?;
    let all = Index::parse(&document.body).map_err(within)?;
    let entry = all.newest(name, &cx.config.plugins.denied).map_err(within)?;
    let at = document.target.join(&entry.file).map_err(|error| within(error.to_string()))?;
    let file = get(cx, &at, PACKED_MAX).await?;
    let signature = match &entry.signature {
        Some(text) => {
            let parsed = Signature::parse(text);
            Some(parsed.map_err(|error| within(format!("the signature of {}: {error}", entry.file)))?)
        }
        None => signature_at(cx, &at).await?,
    };
    check_sum(&file, entry).map_err(|error| within(error.to_string()))?;
    let candidate = candidate(file, signature, Source::Index(index.clone())).await?;
    let candidate = check_entry(candidate, entry).map_err(|error| within(error.to_string()))?;
    Ok(Candidate { listed: Some(listed), ..candidate })
}

/// Whether the file is the one that the index means.
fn check_sum(file: &[u8], entry: &Entry) -> Result<()> {
    let is = crypto::sha256_hex(file);
    if is == entry.sha256 {
        return Ok(());
    }
    let (file, wanted) = (&entry.file, entry.sha256.chars().take(12).collect::<String>());
    Err(Error::invalid(format!("the checksum of {file} is {}, and the index says {wanted}", &is[..12])))
}

/// The candidate, if it matches the index.
fn check_entry(mut candidate: Candidate, entry: &Entry) -> Result<Candidate> {
    let about = &candidate.package.manifest.plugin;
    if (&about.name, &about.version) != (&entry.name, &entry.version) {
        let (file, name, version) = (&entry.file, &about.name, &about.version);
        let text = format!("{file} holds {name} {version}, and the index says {} {}", entry.name, entry.version);
        return Err(Error::invalid(text));
    }
    let listed = || entry.key.as_ref().and_then(|key| PublicKey::parse(key).ok());
    candidate.claimed = candidate.claimed.or_else(listed);
    Ok(candidate)
}

async fn candidate(file: Vec<u8>, signature: Option<Signature>, source: Source) -> Result<Candidate> {
    let origin = PathBuf::from(source.to_string());
    let new = move || Candidate::new(file, origin, signature, source);
    tokio::task::spawn_blocking(new).await.map_err(|error| Error::internal(error.to_string()))?
}

/// The signature beside a package or an index; `None` when there is none.
async fn signature_at(cx: &Cx, package: &Target) -> Result<Option<Signature>> {
    let (path, query) = package.url().split_once('?').unwrap_or((package.url(), ""));
    let query = if query.is_empty() { String::new() } else { format!("?{query}") };
    let target = Target::parse(&format!("{path}{SIGNATURE}{query}"))
        .map_err(|error| Error::invalid(format!("{}: {error}", package.url())))?;
    let body = match document(cx, &target, SIGNATURE_MAX).await {
        Ok(document) => document.body,
        Err(FetchError::Status(404 | 410)) => return Ok(None),
        Err(error) => return Err(failed(&target, &error)),
    };
    let signature = std::str::from_utf8(&body).ok().and_then(|text| Signature::parse(text).ok());
    let none = || Error::invalid(format!("{}: it is not a minisign signature", target.url()));
    signature.ok_or_else(none).map(Some)
}

async fn get(cx: &Cx, target: &Target, limit: usize) -> Result<Vec<u8>> {
    let document = document(cx, target, limit).await.map_err(|error| failed(target, &error))?;
    Ok(document.body.into())
}

async fn document(cx: &Cx, target: &Target, limit: usize) -> Result<Document, FetchError> {
    let fetch = Fetch {
        target: target.clone(),
        agent: &format!("Rookery/{} (+{}/)", env!("CARGO_PKG_VERSION"), cx.urls.origin),
        timeout: Duration::from_secs(cx.config.plugins.download_timeout_seconds),
        limit,
        beyond: Beyond::Refuse,
        // Static servers send arbitrary types for unknown extensions.
        kinds: &[],
        plain: PlainHttp::Allowed,
        etag: None,
    };
    cx.outbound.fetch(fetch).await
}

fn failed(target: &Target, error: &FetchError) -> Error {
    let hint = match error {
        FetchError::Request(outbound::Error::Blocked) => ": federation.allow_private_addresses may allow its network",
        FetchError::Request(outbound::Error::Timeout) => ": plugins.download_timeout_seconds is how long it may take",
        _ => "",
    };
    Error::invalid(format!("{}: {error}{hint}", target.url()))
}
