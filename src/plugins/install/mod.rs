//! Installing packages from files, URLs and the indexes of static web servers, and upgrading them: there is no central
//! service, the signature identifies the author.
//!
//! Reached from the command line and from the admin API. A package is fetched ([`fetch()`]), compared with the
//! installed one ([`review`]) and shown to the admin; with their consent it is moved into the folder of plugins
//! ([`place`]) and accepted ([`accept`]), with the key of its signature ([`trust`]). From then on its life cycle is the
//! same as for every plugin: rolling back is [`admin::rollback`]. Packages put there by hand need no signature.

pub mod fetch;
pub mod trust;
mod uninstall;
pub mod verify;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use semver::Version;
use serde::Serialize;

use crate::Cx;
use crate::admin::entity::{CleanupRow, HookRow, PageRow, RouteRow, ScheduleRow, SearchRow, schedules};
use crate::admin::{self, InstalledPlugin};
use crate::error::of_fault;
use crate::life::{desired, pipeline, source};
use config::folder::TrustedFolder;
use context::error::{Error, Result};
use crypto::signature::PublicKey;
use model::{Staff, boxed};
use plugin_package::package::{self, Origin, Package};
use store::plugin::{Install, Plugin};
use store::plugin_index::KnownIndex;

pub use fetch::{Candidate, Source, fetch, fetch_again};
pub use trust::{Terms, Trust};
pub use uninstall::uninstall;
/// Installed packages of a plugin that are remembered.
const INSTALLS: usize = 20;

/// The facts that the admin reviews before a package is installed.
#[derive(Clone, Debug, Serialize)]
pub struct Review {
    pub name: String,
    pub title: String,
    pub description: String,
    pub license: String,
    pub version: String,
    /// The version that is here, if one was accepted.
    pub before: Option<String>,
    /// SHA-256 of the package, to which the admin agrees.
    pub digest: String,
    /// SHA-256 of its file.
    pub sha256: String,
    pub size_bytes: usize,
    pub source: String,
    /// The public key that it was signed with.
    pub key: Option<String>,
    /// The short id of the key.
    pub key_id: Option<String>,
    pub trust: Trust,
    /// The public key that the index was signed with, if one named the package.
    pub index_key: Option<String>,
    pub index_trust: Option<Trust>,
    pub routes: Vec<RouteRow>,
    pub pages: Vec<PageRow>,
    pub hooks: Vec<HookRow>,
    pub searches: Vec<SearchRow>,
    pub cleanups: Vec<CleanupRow>,
    pub schedules: Vec<ScheduleRow>,
    /// Permissions that it asks for and that were not granted.
    pub missing: Vec<String>,
    /// It is the package that was accepted, and it is here.
    pub installed: bool,
    /// An admin has to agree: to a key that was not seen before, or to permissions.
    pub asks: bool,
}

/// The public key that is remembered for a plugin.
pub(crate) fn remembered(plugin: Option<&Plugin>) -> Result<Option<PublicKey>> {
    let text = plugin.and_then(|plugin| plugin.public_key.as_deref());
    text.map(PublicKey::parse).transpose().map_err(Error::internal)
}

/// Stores the key and time of the signature of the index that named `candidate`, to which the admin agreed with the
/// package.
///
/// # Errors
/// When it cannot be written.
#[boxed]
pub async fn remember_index(cx: &Cx, candidate: &Candidate, review: &Review) -> Result<()> {
    let (Some(listed), Some(key)) = (&candidate.listed, &review.index_key) else { return Ok(()) };
    let index = KnownIndex { public_key: key.clone(), signed_at: listed.signed_at() };
    if store::plugin_index::find(&cx.db, &listed.url).await?.as_ref() == Some(&index) {
        return Ok(());
    }
    let mut tx = cx.db.begin().await?;
    store::plugin_index::save(&mut tx, &listed.url, &index, cx.clock.now()).await?;
    tx.commit().await?;
    Ok(())
}

/// Compares `candidate` with the installed package.
///
/// # Errors
/// [`Error::Invalid`] for a signature or version that `terms` do not allow, and for a package that is denied.
#[boxed]
pub async fn review(cx: &Cx, candidate: &Candidate, terms: &Terms) -> Result<Review> {
    let (package, name) = (&candidate.package, candidate.name());
    let known = match store::plugin::find(&cx.db, name).await? {
        Some(_) => Some(admin::find(cx, name).await?),
        None => None,
    };
    let plugin = known.as_ref().map(|known| &known.plugin);
    source::check_denied(cx, package).map_err(|fault| of_fault(&fault))?;
    let (key, trust) = trust::check(remembered(plugin)?.as_ref(), candidate, terms)?;
    let (index_key, index_trust) = match &candidate.listed {
        Some(listed) => {
            let known = store::plugin_index::find(&cx.db, &listed.url).await?;
            let (key, trust) = trust::check_index(known.as_ref(), listed, terms)?;
            (key, Some(trust))
        }
        None => (None, None),
    };
    let before = known.as_ref().and_then(accepted_version);
    check_version(candidate, before.as_deref(), terms)?;
    let missing = match plugin {
        Some(plugin) => pipeline::missing(plugin, package),
        None => package.manifest.requested(),
    };
    let strange = before.is_none() || trust == Trust::New || index_trust == Some(Trust::New);
    let about = &package.manifest.plugin;
    Ok(Review {
        name: name.to_owned(),
        title: about.title.clone(),
        description: about.description.clone(),
        license: about.license.clone(),
        version: about.version.clone(),
        digest: package.digest.clone(),
        sha256: candidate.sha256.clone(),
        size_bytes: candidate.file.len(),
        source: candidate.source.to_string(),
        key_id: key.as_ref().map(PublicKey::id),
        key: key.map(|key| key.as_str().to_owned()),
        trust,
        index_key: index_key.map(|key| key.as_str().to_owned()),
        index_trust,
        routes: package.manifest.routes.iter().map(RouteRow::from).collect(),
        pages: package.manifest.pages.iter().map(PageRow::from).collect(),
        hooks: package.manifest.hooks.iter().map(HookRow::from).collect(),
        searches: package.manifest.searches.iter().map(SearchRow::from).collect(),
        cleanups: package.manifest.cleanups.iter().map(CleanupRow::from).collect(),
        schedules: schedules(&package.manifest),
        installed: known.as_ref().is_some_and(|known| is_installed(known, package)),
        asks: !missing.is_empty() || terms.key.is_none() && strange,
        missing: missing.into_iter().collect(),
        before,
    })
}

/// True for the package that was accepted and that this server has: another server may have accepted it.
fn is_installed(known: &InstalledPlugin, package: &Package) -> bool {
    let here = known.package.as_ref().ok().and_then(Option::as_ref).map(|here| &here.digest);
    known.plugin.sha256.as_ref() == Some(&package.digest) && here == Some(&package.digest)
}

/// The version of the package that was accepted, if one was.
fn accepted_version(known: &InstalledPlugin) -> Option<String> {
    known.plugin.sha256.as_ref()?;
    let package = known.package.as_ref().ok().and_then(Option::as_ref);
    package.map(|package| package.manifest.plugin.version.clone()).or_else(|| known.plugin.version.clone())
}

fn check_version(candidate: &Candidate, before: Option<&str>, terms: &Terms) -> Result<()> {
    let text = &candidate.package.manifest.plugin.version;
    let version: Version =
        text.parse().map_err(|error| Error::invalid(format!("{text:?} is not a semantic version: {error}")))?;
    // Versions of the server's own making follow another rule, and are before every one that follows this.
    let older = before.and_then(|before| before.parse().ok()).is_some_and(|before: Version| version < before);
    if !older || terms.downgrade {
        return Ok(());
    }
    let (label, before) = (trust::label(candidate), before.unwrap_or_default());
    Err(Error::invalid(format!("{label} is older than {before}, which is installed: --downgrade accepts it anyway")))
}

/// The package that was moved into the folder of plugins, and the previous one.
#[derive(Debug)]
pub struct Placed {
    path: PathBuf,
    /// The file and its signature that had the same name.
    before: [Option<Vec<u8>>; 2],
}

/// Writes the candidate's file and its signature to the folder of plugins. It is not loaded before it is accepted, unless
/// the server is in development. Blocks.
///
/// # Errors
/// When the folder cannot be written to.
pub fn place(cx: &Cx, candidate: &Candidate) -> Result<Placed> {
    let folder = &cx.config.plugins.dir;
    let path = folder.join(candidate.file_name());
    let failed = |error: io::Error| Error::invalid(format!("{}: {error}", path.display()));
    let folder = TrustedFolder::create(folder).map_err(failed)?;
    let (name, beside) = names(&path);
    let before = [folder.read(&name).map_err(failed)?, folder.read(&beside).map_err(failed)?];
    let signature = candidate.signature.as_ref().map(|signature| signature.as_str().as_bytes());
    put(&folder, &beside, signature).and_then(|()| put(&folder, &name, Some(&candidate.file))).map_err(failed)?;
    Ok(Placed { path, before })
}

/// Undoes [`place`]. Blocks.
pub fn take_back(placed: &Placed) {
    let [file, signature] = &placed.before;
    if let Err(error) = put_both(&placed.path, file.as_deref(), signature.as_deref()) {
        tracing::warn!(%error, "a package that was not installed stays in the folder of plugins");
    }
}

/// The names of a file and of its signature.
fn names(path: &Path) -> (OsString, OsString) {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_owned();
    (name(path), name(&fetch::beside(path)))
}

/// Replaces or deletes a file and its signature.
fn put_both(path: &Path, file: Option<&[u8]>, signature: Option<&[u8]>) -> io::Result<()> {
    let folder = match TrustedFolder::open(path.parent().unwrap_or(Path::new("."))) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        folder => folder?,
    };
    let (name, beside) = names(path);
    put(&folder, &name, file)?;
    put(&folder, &beside, signature)
}

fn put(folder: &TrustedFolder, name: &OsStr, bytes: Option<&[u8]>) -> io::Result<()> {
    match bytes {
        Some(bytes) => folder.replace(name, bytes),
        None => folder.remove(name),
    }
}

/// Makes a candidate that was [placed](place) the desired package of its plugin, after a dry run: its permissions are
/// granted, its key and origin are stored, and a new plugin is enabled. The admin agreed to all of that.
///
/// # Errors
/// As [`review`], and [`Error::Invalid`] when it could not be loaded: nothing changed then.
#[boxed]
pub async fn accept(cx: &Cx, staff: &Staff, candidate: &Candidate, terms: &Terms) -> Result<Plugin> {
    let name = candidate.name();
    let before = store::plugin::find(&cx.db, name).await?;
    let review = review(cx, candidate, terms).await?;
    // Registers a plugin that is new here.
    let registered = admin::find(cx, name).await?.plugin;
    let is_known = before.is_some();
    let reviewed = before.unwrap_or(Plugin { sha256: None, public_key: None, ..registered });
    let packages = source::packages(cx).await.map_err(|fault| of_fault(&fault))?;
    let newer = packages.found.get(name).map(|package| package.digest.clone());
    // In development the newest is loaded as it is, unless it is refused.
    let newer = newer.filter(|digest| *digest != review.digest && cx.config.server.development);
    let change = |plugin: &mut Plugin| {
        if (&plugin.sha256, &plugin.public_key) != (&reviewed.sha256, &reviewed.public_key) {
            return Err(Error::invalid(format!("{name} was changed meanwhile: look again")));
        }
        install(plugin, candidate, &review, cx.clock.now().to_api());
        plugin.refused.clone_from(&newer);
        Ok(())
    };
    let logged = desired::Logged::new(staff, "plugin.install").with(serde_json::json!({ "version": review.version }));
    let mut target = reviewed.clone();
    change(&mut target)?;
    if let Err(fault) = pipeline::dry_run(cx, target).await {
        if !is_known {
            let mut tx = cx.db.begin().await?;
            store::plugin::delete(&mut tx, reviewed.id).await?;
            tx.commit().await?;
        }
        return Err(of_fault(&fault));
    }
    let plugin = desired::change_by(cx, name, logged, change).await?;
    remember_index(cx, candidate, &review).await?;
    remove_replaced(cx, &reviewed, &plugin);
    let key = review.key.as_deref().unwrap_or("none");
    tracing::info!(
        plugin = %name, plugin.version = %review.version, plugin.digest = %review.digest, plugin.key = %key,
        "{name} {} was installed from {}, signed with {}", review.version, review.source,
        review.key_id.as_deref().unwrap_or("no key")
    );
    Ok(plugin)
}

/// The desired state once the package is installed.
fn install(plugin: &mut Plugin, candidate: &Candidate, review: &Review, now: String) {
    if !review.missing.is_empty() {
        admin::grant_all(plugin, &candidate.package);
    }
    plugin.enabled |= plugin.sha256.is_none();
    plugin.quarantined_at = None;
    desired::accept(plugin, &candidate.package);
    if review.key.is_some() {
        plugin.public_key.clone_from(&review.key);
    }
    plugin.source = Some(review.source.clone());
    let installs = &mut plugin.installs.0;
    installs.retain(|known| known.digest != review.digest);
    installs.push(Install {
        version: review.version.clone(),
        digest: review.digest.clone(),
        sha256: review.sha256.clone(),
        file: candidate.file_name(),
        key: review.key.clone(),
        source: review.source.clone(),
        at: now,
    });
    let surplus = installs.len().saturating_sub(INSTALLS);
    installs.drain(..surplus);
}

/// Deletes the file that the installed one takes the place of. To roll back to its package there is a copy.
fn remove_replaced(cx: &Cx, before: &Plugin, now: &Plugin) {
    let [old, new] = [before, now].map(installed_file);
    if old != new {
        remove(cx, old);
    }
}

/// Removes the files of an installation from the folder of plugins; other files stay.
pub(crate) fn remove_installed(cx: &Cx, plugin: &Plugin) {
    remove(cx, installed_file(plugin));
}

/// As [`remove_installed`], with the copies of packages: a different plugin of that name must not be rolled back to one
/// of them.
pub(crate) fn remove_all(cx: &Cx, plugin: &Plugin) {
    remove_installed(cx, plugin);
    if let Err(error) = package::forget(&cx.config.plugins.cache_dir.join("packages"), &plugin.name) {
        tracing::warn!(%error, "copies of packages of {} stay", plugin.name);
    }
}

fn installed_file(plugin: &Plugin) -> Option<&str> {
    plugin.installs.0.last().map(|install| install.file.as_str())
}

fn remove(cx: &Cx, file: Option<&str>) {
    let Some(file) = file.filter(|file| !file.contains('/')) else { return };
    let path = cx.config.plugins.dir.join(file);
    if let Err(error) = put_both(&path, None, None) {
        tracing::warn!(%error, "a package that is not used any more stays: {}", path.display());
    }
}

/// Where the plugin called `name` was installed from.
///
/// # Errors
/// [`Error::Invalid`] when it was not installed by a command, or from a file, which holds one version.
pub async fn origin_of(cx: &Cx, name: &str) -> Result<Source> {
    let plugin = desired::find(cx, name).await?;
    let none = || Error::invalid(format!("{name} has no known origin: name a file, a URL or an index"));
    let source = Source::parse(plugin.source.as_deref().ok_or_else(none)?)?;
    if source.is_remote() {
        return Ok(source);
    }
    Err(Error::invalid(format!("{name} was installed from the file {source}: name the file of the other version")))
}

/// The package of this digest that lies in the folder of plugins; it came from `source`.
async fn placed(cx: &Cx, name: &str, digest: &str, source: Source) -> Result<Option<Candidate>> {
    let packages = source::packages(cx).await.map_err(|fault| of_fault(&fault))?;
    let mut fitting = None;
    for package in packages.with_digest(name, digest) {
        let Origin::File(path) = &package.origin else { continue };
        let candidate = fetch::read(path.clone(), source.clone()).await?;
        let is_placed = path.file_name().is_some_and(|file| *file == *candidate.file_name());
        if candidate.package.digest == digest && (is_placed || fitting.is_none()) {
            fitting = Some(candidate);
        }
    }
    Ok(fitting)
}

/// A request to install or review a package.
#[derive(Debug, Default)]
pub struct Request {
    /// Where the package comes from; `None`: where the present one came from.
    pub from: Option<Source>,
    /// The digest of the package that the admin agreed to.
    pub digest: Option<String>,
    /// What else they said.
    pub terms: Terms,
}

/// What `request` asks for, to be shown to the admin.
///
/// # Errors
/// As [`fetch()`], [`origin_of`] and [`review`].
#[boxed]
pub async fn look(cx: &Cx, name: &str, request: Request) -> Result<Review> {
    let candidate = get(cx, name, request.from, &request.terms).await?;
    review(cx, &candidate, &request.terms).await
}

async fn get(cx: &Cx, name: &str, from: Option<Source>, terms: &Terms) -> Result<Candidate> {
    match from {
        Some(Source::File(path)) => Err(Error::invalid(format!("{} is not a URL", path.display()))),
        Some(source) => fetch(cx, Some(name), source, terms).await,
        None => fetch_again(cx, name, origin_of(cx, name).await?, terms).await,
    }
}

/// Installs or upgrades the plugin called `name`, in one request. A package of the digest that lies in the folder of
/// plugins, where the command line puts it, is not fetched again.
///
/// # Errors
/// As [`accept`], and [`Error::Invalid`] for a file, and when the admin has to agree and did not, or agreed to another
/// package.
#[boxed]
pub async fn run(cx: &Cx, staff: &Staff, name: &str, request: Request) -> Result<Plugin> {
    let Request { from, digest, terms } = request;
    if let (Some(digest), Some(source)) = (&digest, &from)
        && let Some(candidate) = placed(cx, name, digest, source.clone()).await?
    {
        return Box::pin(accept(cx, staff, &candidate, &terms)).await;
    }
    let candidate = Box::pin(get(cx, name, from, &terms)).await?;
    check_agreed(&Box::pin(review(cx, &candidate, &terms)).await?, digest.as_deref())?;
    let placed = place(cx, &candidate)?;
    let accepted = Box::pin(accept(cx, staff, &candidate, &terms)).await;
    if accepted.is_err() {
        take_back(&placed);
    }
    accepted
}

fn check_agreed(review: &Review, digest: Option<&str>) -> Result<()> {
    let Review { name, version, .. } = review;
    match digest {
        Some(digest) if digest == review.digest => Ok(()),
        Some(_) => Err(Error::invalid(format!("the package of {name} was replaced meanwhile: look again"))),
        None if !review.asks => Ok(()),
        None => {
            let asks = if review.missing.is_empty() { "nothing".to_owned() } else { review.missing.join(", ") };
            let key = review.key.as_deref().unwrap_or("no key");
            Err(Error::invalid(format!(
                "{name} {version} asks for {asks} and is signed with {key}: agree to it by its digest, {}",
                review.digest
            )))
        }
    }
}
