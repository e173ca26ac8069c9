//! Verifies packages: the digest, the signature and its key, of a file or of the package that a plugin is loaded from.
//!
//! Changes nothing. A package is verified when its signature fits and its key is the one that the admin names or that is
//! remembered for the plugin.

use model::boxed;
use std::path::PathBuf;

use serde::Serialize;

use super::fetch::{self, Candidate, Source};
use super::remembered;
use super::trust::{self, Terms, Trust};
use crate::error::of_fault;
use crate::{Cx, admin};
use context::error::{Error, Result};
use crypto::signature::{PublicKey, Signature};
use plugin_package::package::{Origin, Package};
use store::plugin::Plugin;

/// A package that was verified.
#[derive(Debug, Serialize)]
pub struct Verified {
    pub name: String,
    pub version: String,
    /// SHA-256 of the package.
    pub digest: String,
    /// SHA-256 of its file; `None` for what comes with the server.
    pub sha256: Option<String>,
    /// Where it was read.
    pub origin: String,
    /// The public key that it was signed with.
    pub key: Option<String>,
    pub key_id: Option<String>,
    /// The key is the remembered one, or the one that was asked for.
    pub trusted: bool,
    /// The trusted comment of the signature.
    pub comment: Option<String>,
    /// When it was installed, and from where.
    pub installed_at: Option<String>,
    pub source: Option<String>,
    /// The result as text.
    pub sentence: String,
}

impl Verified {
    fn new(package: &Package, plugin: Option<&Plugin>) -> Self {
        let installs = plugin.map(|plugin| plugin.installs.0.as_slice()).unwrap_or_default();
        let install = installs.iter().find(|install| install.digest == package.digest);
        Self {
            name: package.name().to_owned(),
            version: package.manifest.plugin.version.clone(),
            digest: package.digest.clone(),
            sha256: install.map(|install| install.sha256.clone()),
            origin: package.origin.to_string(),
            key: None,
            key_id: None,
            trusted: false,
            comment: None,
            installed_at: install.map(|install| install.at.clone()),
            source: install.map(|install| install.source.clone()),
            sentence: String::new(),
        }
    }

    fn signed_with(mut self, key: &PublicKey, trusted: bool, sentence: String) -> Self {
        (self.key, self.key_id) = (Some(key.as_str().to_owned()), Some(key.id()));
        Self { trusted, sentence, ..self }
    }
}

/// Verifies a file and the signature beside it. Without `key` and a remembered one, the key that came with it is taken,
/// which proves only the integrity of the file.
///
/// # Errors
/// [`Error::Invalid`] for a package that cannot be read, is not signed, or whose signature is not accepted.
#[boxed]
pub async fn file(cx: &Cx, path: PathBuf, key: Option<PublicKey>) -> Result<Verified> {
    let candidate = fetch::read(path.clone(), Source::File(path)).await?;
    let plugin = store::plugin::find(&cx.db, candidate.name()).await?;
    check(&candidate, plugin.as_ref(), key.as_ref())
}

/// Verifies the package that the plugin called `name` is loaded from.
///
/// # Errors
/// As [`file()`], and when there is no such plugin or no package that was accepted.
#[boxed]
pub async fn plugin(cx: &Cx, name: &str, key: Option<PublicKey>) -> Result<Verified> {
    let known = admin::find(cx, name).await?;
    let package = known.package.map_err(|fault| of_fault(&fault))?;
    let package = package.ok_or_else(|| Error::invalid(format!("there is no package of {name} to verify")))?;
    match &package.origin {
        Origin::File(path) => {
            let candidate = fetch::read(path.clone(), Source::File(path.clone())).await?;
            check(&candidate, Some(&known.plugin), key.as_ref())
        }
        Origin::Embedded => {
            let sentence = format!("{name} comes with the server, and is part of its program");
            Ok(Verified { trusted: key.is_none(), sentence, ..Verified::new(&package, None) })
        }
        Origin::RollbackCopy => rollback_copy(&package, &known.plugin, key),
        Origin::Folder(_) => Err(unsigned(&package)),
    }
}

fn check(candidate: &Candidate, plugin: Option<&Plugin>, key: Option<&PublicKey>) -> Result<Verified> {
    let package = &candidate.package;
    if candidate.signature.is_none() {
        return Err(unsigned(package));
    }
    let terms = Terms { key: key.cloned(), ..Terms::default() };
    let (signer, trust) = trust::check(remembered(plugin)?.as_ref(), candidate, &terms)?;
    let signer = signer.ok_or_else(|| unsigned(package))?;
    let trusted = key.is_some() || trust == Trust::Known;
    let label = trust::label(candidate);
    let sentence = if trusted {
        format!("{label} is signed by its author")
    } else {
        format!(
            "{label} is intact, but its key is not trusted here: compare the key with the one that its author publishes"
        )
    };
    let comment = candidate.signature.as_ref().map(Signature::trusted_comment).map(plain);
    let verified = Verified { sha256: Some(candidate.sha256.clone()), comment, ..Verified::new(package, plugin) };
    Ok(verified.signed_with(&signer, trusted, sentence))
}

/// Of the copy to which one rolled back, the digest was compared when it was read; the signature was of the file.
fn rollback_copy(package: &Package, plugin: &Plugin, key: Option<PublicKey>) -> Result<Verified> {
    let install = plugin.installs.0.iter().find(|install| install.digest == package.digest);
    let signer = install.and_then(|install| PublicKey::parse(install.key.as_deref()?).ok());
    let signer = signer.ok_or_else(|| unsigned(package))?;
    let (name, version) = (package.name(), &package.manifest.plugin.version);
    if let Some(key) = key.filter(|key| *key != signer) {
        let (signer, key) = (signer.id(), key.id());
        return Err(Error::invalid(format!("{name} {version} was signed with the key {signer} and not with {key}")));
    }
    let sentence =
        format!("{name} {version} is a copy of the package whose signature was checked when it was installed");
    let trusted = remembered(Some(plugin))?.as_ref() == Some(&signer);
    Ok(Verified::new(package, Some(plugin)).signed_with(&signer, trusted, sentence))
}

fn unsigned(package: &Package) -> Error {
    let (name, version) = (package.name(), &package.manifest.plugin.version);
    Error::invalid(format!("{name} {version} is not signed: its digest is {}", package.digest))
}

/// The text without control characters: it is shown on a terminal.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
