//! The header `Collection-Synchronization`: a digest of the followers of the sender that are accounts of the receiver.
//!
//! Only read where the signature covers it, since anyone on the way could add it otherwise.
//!
//! Spec: docs/contract/federation.md#9-followers-synchronisation; FEP-8fcf.

use super::cavage::Parameters;
use super::claim::Claim;
use super::incoming::Incoming;

/// The name of the header.
pub(super) const HEADER: &str = "collection-synchronization";

/// Digits of a digest.
const DIGITS: usize = 64;

/// The content of the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Synchronization {
    /// The URL of the followers collection.
    pub collection: String,
    /// Where the receiver finds the followers that are its accounts.
    pub url: String,
    /// 64 hexadecimal digits in lower case.
    pub digest: String,
}

impl Synchronization {
    /// The header of `request`; `None` when it is missing, malformed or not signed.
    #[must_use]
    pub fn of(request: &Incoming<'_>, claim: &Claim) -> Option<Self> {
        let field = request.field(HEADER).ok().flatten().filter(|_| claim.covers(HEADER))?;
        Self::parse(&field)
    }

    fn parse(field: &str) -> Option<Self> {
        let parameters = Parameters::parse(field).ok()?;
        let parameter = |name| parameters.get(name).map(str::to_owned);
        let digest = parameter("digest")?.to_ascii_lowercase();
        let is_digest = digest.len() == DIGITS && digest.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_digest.then_some(Self { collection: parameter("collectionId")?, url: parameter("url")?, digest })
    }

    /// The value of the header.
    #[must_use]
    pub fn value(&self) -> String {
        let Self { collection, url, digest } = self;
        format!(r#"collectionId="{collection}", url="{url}", digest="{digest}""#)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_is_read_as_it_is_written() {
        let of = |url: &str| format!("https://a.test/users/x/{url}");
        let header = Synchronization { collection: of("followers"), url: of("sync"), digest: "0f".repeat(32) };
        assert_eq!(Synchronization::parse(&header.value()), Some(header.clone()));
        let upper = header.value().replace("0f", "0F");
        assert_eq!(Synchronization::parse(&upper), Some(header.clone()));
        for wrong in [
            String::new(),
            header.value().replace("0f0f", "0f"),
            header.value().replace("0f0f", "0g0g"),
            header.value().replace("url=", "uri="),
            header.value().replace("collectionId=", "collectionId"),
            format!("{0}, {0}", header.value()),
        ] {
            assert_eq!(Synchronization::parse(&wrong), None, "{wrong}");
        }
    }
}
