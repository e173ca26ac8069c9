//! Shapes of members: absent when malformed, one or many, an object or its id.

use std::ops::Deref;

use serde::de::{DeserializeOwned, Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Most values read of a member that may have many.
const MANY_MAX: usize = 1_000;

/// A member that is absent, `null` or malformed when it is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lenient<T>(pub Option<T>);

impl<T> Default for Lenient<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Deref for Lenient<T> {
    type Target = Option<T>;
    fn deref(&self) -> &Option<T> {
        &self.0
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        Ok(Self(serde_json::from_str(raw.get()).ok()))
    }
}

/// A member with one value or a list of values; malformed values are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Many<T>(pub Vec<T>);

impl<T> Default for Many<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Deref for Many<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        if !raw.starts_with('[') {
            return Ok(Self(serde_json::from_str(raw).into_iter().collect()));
        }
        let values: Vec<&RawValue> = serde_json::from_str(raw).map_err(D::Error::custom)?;
        let read = |value: &&RawValue| serde_json::from_str(value.get()).ok();
        Ok(Self(values.iter().take(MANY_MAX).filter_map(read).collect()))
    }
}

/// `url` with its host in ASCII (IDNA): a host with other letters has one spelling. Letters that only look like ASCII stay,
/// and such a host matches no known host.
pub(super) fn spelled(url: String) -> String {
    let Some((scheme, rest)) = url.split_once("://").filter(|_| !url.is_ascii()) else { return url };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (name, port) = authority.split_at(authority.find(':').unwrap_or(authority.len()));
    match url::Host::parse(name) {
        Ok(url::Host::Domain(host)) if host.split('.').any(|label| label.starts_with("xn--")) => {
            format!("{scheme}://{host}{port}{path}")
        }
        _ => url,
    }
}

/// The `id` of a document.
pub(super) fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    String::deserialize(deserializer).map(spelled)
}

/// The id of an object: a string, or the `id` (or `href`) of an inline object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Id(pub String);

impl Deref for Id {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Inline {
            #[serde(default)]
            id: Lenient<String>,
            #[serde(default)]
            href: Lenient<String>,
        }
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        if raw.starts_with('"') {
            return serde_json::from_str(raw).map(spelled).map(Self).map_err(D::Error::custom);
        }
        let inline: Inline = serde_json::from_str(raw).map_err(D::Error::custom)?;
        inline.id.0.or(inline.href.0).map(spelled).map(Self).ok_or_else(|| D::Error::custom("an object without an id"))
    }
}

/// An object, or its id.
#[derive(Clone, Debug)]
pub enum Reference<T> {
    Id(String),
    Inline(Box<T>),
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Reference<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        let read = if raw.starts_with('"') {
            serde_json::from_str(raw).map(spelled).map(Self::Id)
        } else {
            serde_json::from_str(raw).map(|object| Self::Inline(Box::new(object)))
        };
        read.map_err(D::Error::custom)
    }
}
