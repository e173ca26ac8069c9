//! Whose packages are trusted: on first use the key that comes with a package is shown to the admin and remembered with the
//! plugin; from then on, packages of that plugin must be signed with it.
//!
//! A key is remembered for as long as the plugin keeps tables here, so uninstalling does not forget it and purging does. An
//! index that is signed follows the same rules by its address: an attacker who changes it could withhold a package.

use serde::Serialize;

use super::fetch::{Candidate, Listed};
use context::error::{Error, Result};
use crypto::signature::{PublicKey, Signature, SignatureError};
use store::plugin_index::KnownIndex;

/// The consent that the admin gives beforehand.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// The key that the package must be signed with; it takes the place of a remembered one.
    pub key: Option<PublicKey>,
    /// The key that the index must be signed with; it takes the place of a remembered one.
    pub index_key: Option<PublicKey>,
    /// A package without a signature will do, and an index without one that had one before.
    pub unsigned: bool,
    /// A version before the present one will do, and an index that was signed before one that was used.
    pub downgrade: bool,
}

/// The relation of a package's key to the stored key of its plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// It is the remembered one.
    Known,
    /// None is remembered.
    New,
    /// The admin named it, and another one is remembered.
    Replaced,
    /// There is no signature.
    Unsigned,
}

/// The key of the valid signature of `candidate`, and its relation to `remembered`.
///
/// # Errors
/// [`Error::Invalid`] when the signature does not fit, is of another key than the remembered or named one, or is missing
/// and must not be.
pub fn check(
    remembered: Option<&PublicKey>,
    candidate: &Candidate,
    terms: &Terms,
) -> Result<(Option<PublicKey>, Trust)> {
    let Some(signature) = &candidate.signature else { return unsigned(remembered, candidate, terms) };
    if let Some(key) = &terms.key {
        verify(candidate, signature, key, terms)?;
        let trust = match remembered {
            None => Trust::New,
            Some(known) if known == key => Trust::Known,
            Some(_) => Trust::Replaced,
        };
        return Ok((Some(key.clone()), trust));
    }
    if let Some(key) = remembered {
        verify(candidate, signature, key, terms)?;
        return Ok((Some(key.clone()), Trust::Known));
    }
    let Some(key) = &candidate.claimed else {
        let text = format!("{} is signed, and its public key did not come with it: name it by --key", label(candidate));
        return Err(Error::invalid(text));
    };
    verify(candidate, signature, key, terms)?;
    Ok((Some(key.clone()), Trust::New))
}

fn verify(candidate: &Candidate, signature: &Signature, key: &PublicKey, terms: &Terms) -> Result<()> {
    let Err(error) = key.verify(&candidate.file, signature) else { return Ok(()) };
    let (label, name, id) = (label(candidate), candidate.name(), key.id());
    let other = candidate.claimed.as_ref().filter(|claimed| *claimed != key);
    let of_another = match (error, other) {
        (SignatureError::OtherKey | SignatureError::Broken, Some(other)) => format!("the key {}", other.id()),
        (SignatureError::OtherKey, None) => "another key".to_owned(),
        (error, _) => return Err(Error::invalid(format!("the signature of {label} is not accepted: {error}"))),
    };
    if terms.key.is_some() {
        return Err(Error::invalid(format!("{label} is signed with {of_another} and not with {id}")));
    }
    let new = other.map(|other| format!(" {}", other.as_str())).unwrap_or_default();
    Err(Error::invalid(format!(
        "{label} is signed with {of_another} and not with {id}, which is trusted for {name}: ask its author; --key{new} \
         trusts the new one"
    )))
}

fn unsigned(
    remembered: Option<&PublicKey>,
    candidate: &Candidate,
    terms: &Terms,
) -> Result<(Option<PublicKey>, Trust)> {
    let label = label(candidate);
    if terms.key.is_some() {
        return Err(Error::invalid(format!("{label} is not signed, and --key says that it must be")));
    }
    if terms.unsigned {
        return Ok((None, Trust::Unsigned));
    }
    match remembered {
        Some(key) => Err(Error::invalid(format!(
            "{label} is not signed, and earlier packages were, with the key {}: --unsigned accepts it anyway",
            key.id()
        ))),
        None if candidate.source.is_remote() => {
            Err(Error::invalid(format!("{label} is not signed: --unsigned accepts it anyway")))
        }
        None => Ok((None, Trust::Unsigned)),
    }
}

/// As [`check`], for the index that named a package. An index without a signature is accepted as long as it never had
/// one; an index that was signed before the `known` one may be a replay that withholds newer packages.
///
/// # Errors
/// [`Error::Invalid`] as for a package, and for an older index.
pub fn check_index(known: Option<&KnownIndex>, listed: &Listed, terms: &Terms) -> Result<(Option<PublicKey>, Trust)> {
    let url = &listed.url;
    let remembered = known.map(|known| PublicKey::parse(&known.public_key)).transpose().map_err(Error::internal)?;
    let remembered = remembered.as_ref();
    let Some(signature) = &listed.signature else {
        return match (&terms.index_key, remembered) {
            (Some(_), _) => Err(Error::invalid(format!("{url} is not signed, and --index-key says that it must be"))),
            (None, Some(key)) if !terms.unsigned => Err(Error::invalid(format!(
                "{url} is not signed, and was before, with the key {}: --unsigned accepts it anyway",
                key.id()
            ))),
            (None, _) => Ok((None, Trust::Unsigned)),
        };
    };
    let claimed = signature.claimed_key();
    let Some(key) = terms.index_key.as_ref().or(remembered).or(claimed.as_ref()) else {
        let why = "is signed, and its public key did not come with it: name it by --index-key";
        return Err(Error::invalid(format!("{url} {why}")));
    };
    if let Err(error) = key.verify(&listed.text, signature) {
        let other = claimed.as_ref().filter(|claimed| *claimed != key);
        let refuse = |what: String| Err(Error::invalid(format!("{url} {what}")));
        return match (error, other) {
            (SignatureError::OtherKey | SignatureError::Broken, Some(other)) => refuse(format!(
                "is signed with the key {} and not with {}, which is trusted for it: ask its maintainer; --index-key {} \
                 trusts the new one",
                other.id(),
                key.id(),
                other.as_str()
            )),
            (error, _) => refuse(format!("has a signature that is not accepted: {error}")),
        };
    }
    let trust = match remembered {
        None => Trust::New,
        Some(known) if known == key => Trust::Known,
        Some(_) => Trust::Replaced,
    };
    let used = known.and_then(|known| known.signed_at).filter(|_| trust == Trust::Known && !terms.downgrade);
    match (used, listed.signed_at()) {
        (Some(used), Some(signed)) if signed < used => Err(Error::invalid(format!(
            "{url} was signed on {}, before the last one of {}: it may withhold newer packages; --downgrade accepts it anyway",
            signed.to_api(),
            used.to_api()
        ))),
        (Some(_), None) => Err(Error::invalid(format!(
            "{url} has no time of signature, and the last one had: --downgrade accepts it anyway"
        ))),
        _ => Ok((Some(key.clone()), trust)),
    }
}

/// A package by name and version.
pub(super) fn label(candidate: &Candidate) -> String {
    format!("{} {}", candidate.name(), candidate.package.manifest.plugin.version)
}
