//! A signature that is acceptable if its key confirms it.

use crypto::rsa::{Algorithm, VerifyingKey};

/// A signature of a request that passed every check but the one with the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub(super) key_id: String,
    /// `None` when the kind of the key decides.
    pub(super) algorithm: Option<Algorithm>,
    /// The texts of which one is signed.
    pub(super) messages: Vec<String>,
    pub(super) signature: Vec<u8>,
    /// Names of the signed components, in lower case.
    pub(super) components: Vec<String>,
}

impl Claim {
    /// The id of the key, as the peer wrote it: not empty, and otherwise not checked.
    #[must_use]
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// The signature: another one for every request that is signed anew.
    #[must_use]
    pub fn signature(&self) -> &[u8] {
        &self.signature
    }

    /// True when the component `name`, in lower case, is signed.
    #[must_use]
    pub fn covers(&self, name: &str) -> bool {
        self.components.iter().any(|component| component == name)
    }

    /// True when the signature was made with `key`.
    #[must_use]
    pub fn verify(&self, key: &VerifyingKey) -> bool {
        let algorithm = self.algorithm.unwrap_or(key.algorithm());
        self.messages.iter().any(|message| key.verify(algorithm, message.as_bytes(), &self.signature))
    }
}
