//! Ids: numbers in Rust, decimal strings in JSON.

use std::fmt;
use std::str::FromStr;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Error;

/// The id of an entity of the server or of the plugin, which serialises as clients expect it: as a decimal string.
///
/// The contract's records and statements hold plain `i64`; write `Id(status.id)` where one goes into JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub i64);

impl Id {
    /// The ids that a client sent.
    ///
    /// # Errors
    /// [`Error::NotFound`] when one of them is none.
    pub fn all(sent: &[String]) -> crate::Result<Vec<i64>> {
        sent.iter().map(|id| id.parse().map_err(|_| Error::NotFound)).collect()
    }

    /// The valid ids among values from a client.
    #[must_use]
    pub fn known(sent: &[String]) -> Vec<i64> {
        sent.iter().filter_map(|id| id.parse().ok()).collect()
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Id {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl From<i64> for Id {
    fn from(number: i64) -> Self {
        Self(number)
    }
}

impl From<Id> for i64 {
    fn from(id: Id) -> Self {
        id.0
    }
}

impl From<&Id> for i64 {
    fn from(id: &Id) -> Self {
        id.0
    }
}

impl PartialEq<i64> for Id {
    fn eq(&self, other: &i64) -> bool {
        self.0 == *other
    }
}

impl PartialEq<Id> for i64 {
    fn eq(&self, other: &Id) -> bool {
        *self == other.0
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IdVisitor;
        impl Visitor<'_> for IdVisitor {
            type Value = Id;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an id")
            }
            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Id, E> {
                Ok(Id(number))
            }
            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Id, E> {
                i64::try_from(number).map(Id).map_err(|_| E::custom("must be an id"))
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Id, E> {
                text.trim().parse().map_err(|_| E::custom("must be an id"))
            }
        }
        deserializer.deserialize_any(IdVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wrong_id_spoils_all_and_none_of_the_known() {
        let texts = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        let sent = texts(&["1", "x", "2"]);
        assert_eq!((Id::all(&sent), Id::known(&sent)), (Err(Error::NotFound), vec![1, 2]));
        assert_eq!((Id::all(&texts(&["1", "2"])), Id::all(&[])), (Ok(vec![1, 2]), Ok(vec![])));
    }
}
