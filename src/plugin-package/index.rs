//! The index of a static web server: the list of its packages, for servers that look for the newest one.
//!
//! `rookery plugin index` writes it beside the packages; anything that serves files can serve it. Nothing in it is
//! trusted: an attacker who changes it can withhold a package, or offer an older one for a first installation, but
//! cannot forge one, since a package must match its signature and the signature the key that the server trusts.
//!
//! The format is [`Index`] as JSON; a server ignores unknown members.

use serde::{Deserialize, Serialize};

use crate::manifest::API;
use crate::package::{Origin, PACKED_MAX, unpack};
use config::nearest;
use crypto::signature::{PublicKey, Signature};

/// The value of `format`.
pub const FORMAT: &str = "rookery-plugins/1";

/// The file's name.
pub const FILE: &str = "index.json";

/// Longest index, in bytes: some thousand packages.
pub const INDEX_MAX: usize = 8 << 20;

/// A whole index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// [`FORMAT`].
    pub format: String,
    /// By name, then by version, the newest last.
    pub packages: Vec<Entry>,
}

/// A package that lies on the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The plugin's name.
    pub name: String,
    pub version: String,
    /// The contract that it was built for.
    pub api: String,
    /// For people.
    pub title: String,
    /// For people.
    #[serde(default)]
    pub description: String,
    /// An SPDX expression.
    pub license: String,
    /// The location of the file: a URL, or relative to the URL of the index.
    pub file: String,
    pub size_bytes: u64,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// SHA-256 of the package, as servers show it.
    pub digest: String,
    /// The permissions that it asks for, so that people can tell before they fetch it.
    pub permissions: Vec<String>,
    /// The public key that it was signed with.
    #[serde(default)]
    pub key: Option<String>,
    /// The text of the signature; without one it is beside the file.
    #[serde(default)]
    pub signature: Option<String>,
}

impl Entry {
    /// The entry of a file called `file`.
    ///
    /// # Errors
    /// When `bytes` is no package, or the signature does not fit it; as a sentence.
    pub fn new(file: &str, bytes: &[u8], signature: Option<&str>) -> Result<Self, String> {
        let package = unpack(bytes, Origin::File(file.into())).map_err(|fault| fault.to_string())?;
        let refuse = |cause: &dyn std::fmt::Display| format!("the signature of {file}: {cause}");
        let signature = signature.map(Signature::parse).transpose().map_err(|error| refuse(&error))?;
        let key = signature.as_ref().and_then(Signature::claimed_key);
        if let (Some(key), Some(signature)) = (&key, &signature) {
            key.verify(bytes, signature).map_err(|error| refuse(&error))?;
        }
        let about = &package.manifest.plugin;
        Ok(Self {
            name: about.name.clone(),
            version: about.version.clone(),
            api: about.api.clone(),
            title: about.title.clone(),
            description: about.description.clone(),
            license: about.license.clone(),
            file: file.to_owned(),
            size_bytes: bytes.len() as u64,
            sha256: crypto::sha256_hex(bytes),
            digest: package.digest.clone(),
            permissions: package.manifest.requested().into_iter().collect(),
            key: key.as_ref().map(PublicKey::as_str).map(str::to_owned),
            signature: signature.map(|signature| signature.as_str().to_owned()),
        })
    }

    fn semver(&self) -> Option<semver::Version> {
        self.version.parse().ok()
    }

    fn fits(&self, denied: &[String]) -> bool {
        let size = usize::try_from(self.size_bytes).is_ok_and(|size| size <= PACKED_MAX);
        self.api == API && size && self.semver().is_some() && !denied.contains(&self.digest)
    }
}

impl Index {
    /// An index of these packages.
    #[must_use]
    pub fn new(mut packages: Vec<Entry>) -> Self {
        packages.sort_by(|a, b| (&a.name, a.semver(), &a.file).cmp(&(&b.name, b.semver(), &b.file)));
        Self { format: FORMAT.to_owned(), packages }
    }

    /// Parses an index.
    ///
    /// # Errors
    /// For anything else, as a sentence.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let index: Self =
            serde_json::from_slice(text).map_err(|error| format!("it is no index of plugins: {error}"))?;
        if index.format == FORMAT {
            Ok(index)
        } else {
            Err(format!("it is an index of the format {:?}, and not {FORMAT:?}", index.format))
        }
    }

    /// The newest package of `name` that this server could load; an unfinished version (`1.0.0-rc.1`) only where there is
    /// no other. `denied` are digests that it never loads.
    ///
    /// # Errors
    /// When there is none, as a sentence.
    pub fn newest(&self, name: &str, denied: &[String]) -> Result<&Entry, String> {
        let named = || self.packages.iter().filter(|entry| entry.name == name);
        let fitting = named().filter(|entry| entry.fits(denied));
        let order = |entry: &&Entry| entry.semver().map(|version| (version.pre.is_empty(), version));
        if let Some(entry) = fitting.max_by_key(order) {
            return Ok(entry);
        }
        let Some(other) = named().next_back() else {
            let known = self.packages.iter().map(|entry| entry.name.clone());
            let hint = nearest(name, known).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            return Err(format!("the index has no plugin {name:?}{hint}"));
        };
        let (version, api) = (&other.version, &other.api);
        Err(format!(
            "the index has no package of {name} that this server could load, which offers the contract {API}: the last one \
             is {version}, for {api}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(version: &str, api: &str) -> Entry {
        Entry {
            name: "notes".to_owned(),
            version: version.to_owned(),
            api: api.to_owned(),
            title: "Notes".to_owned(),
            description: String::new(),
            license: "MIT".to_owned(),
            file: format!("notes-{version}.plugin"),
            size_bytes: 1,
            sha256: String::new(),
            digest: version.to_owned(),
            permissions: Vec::new(),
            key: None,
            signature: None,
        }
    }

    #[test]
    fn newest_version_is_that_which_the_server_can_load() {
        let newest = |all: &[(&str, &str)], denied: &[&str]| {
            let denied: Vec<String> = denied.iter().map(|text| (*text).to_owned()).collect();
            let index = Index::new(all.iter().map(|(version, api)| entry(version, api)).collect());
            index.newest("notes", &denied).map(|entry| entry.version.clone())
        };
        let all = [("1.9.0", "0.1"), ("1.10.0", "0.1"), ("2.0.0-rc.1", "0.1"), ("3.0.0", "9.0"), ("rubbish", "0.1")];
        assert_eq!(newest(&all, &[]), Ok("1.10.0".to_owned()));
        assert_eq!(newest(&all, &["1.10.0"]), Ok("1.9.0".to_owned()));
        assert_eq!(newest(&all[2..], &[]), Ok("2.0.0-rc.1".to_owned()));
        let refused = newest(&all[3..4], &[]).unwrap_err();
        assert!(refused.ends_with("the last one is 3.0.0, for 9.0"), "{refused}");
        let index = Index::new(vec![entry("1.0.0", "0.1")]);
        let unknown = index.newest("note", &[]).unwrap_err();
        assert_eq!(unknown, "the index has no plugin \"note\"; did you mean notes?");
        let text = serde_json::to_vec(&index).unwrap();
        assert_eq!(Index::parse(&text).unwrap(), index);
        assert!(Index::parse(&text[1..]).unwrap_err().starts_with("it is no index of plugins: "));
    }
}
