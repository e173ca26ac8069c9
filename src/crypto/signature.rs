//! Signatures of files, in the format of minisign: Ed25519 over the BLAKE2b-512 digest of the file.
//!
//! A signature is a text of four lines stored beside the file; its first line is an unprotected comment, its third
//! line a signed one. A signature identifies its key by an id and does not contain it, so authors of Rookery plugins
//! write the public key into the first comment, where an admin without an earlier key finds it and decides whether to
//! trust it. Creating keys and signatures is in `signing`, which is only part of the authors' tools.
//!
//! Format: <https://jedisct1.github.io/minisign/>, without its old signatures of whole files.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Longest text of a signature, in bytes.
pub const SIGNATURE_MAX: usize = 4096;

/// The prefix of the public key in the first comment of a signature.
pub(crate) const KEY_COMMENT: &str = "public key ";

/// The prefix of every first comment.
const COMMENT: &str = "untrusted comment: ";

/// Bytes of a public key: two of the algorithm, eight of the key's id, and the key.
const KEY_BYTES: usize = 42;

/// Why a key or a signature is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The text is not a public key.
    #[error("it is no public key of minisign, which is 56 letters and begins with RW")]
    NoKey,
    /// The text is not a signature.
    #[error("it is not a minisign signature")]
    NoSignature,
    /// The signature was made with another key.
    #[error("it was made with another key")]
    OtherKey,
    /// The file or the signature was modified.
    #[error("it does not fit the file: one of them was changed")]
    Broken,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    text: String,
    key: minisign_verify::PublicKey,
    id: u64,
}

impl PublicKey {
    /// Parses a key: its single line, or a file with a comment before it.
    ///
    /// # Errors
    /// [`SignatureError::NoKey`].
    pub fn parse(text: &str) -> Result<Self, SignatureError> {
        let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty()).ok_or(SignatureError::NoKey)?;
        let bytes = STANDARD.decode(line).map_err(|_| SignatureError::NoKey)?;
        let id = bytes.get(2..10).and_then(|id| id.try_into().ok()).map(u64::from_le_bytes);
        let id = id.filter(|_| bytes.len() == KEY_BYTES).ok_or(SignatureError::NoKey)?;
        // Re-encoded, so that each key has exactly one text.
        let text = STANDARD.encode(&bytes);
        let key = minisign_verify::PublicKey::from_base64(&text).map_err(|_| SignatureError::NoKey)?;
        Ok(Self { text, key, id })
    }

    /// The key in one line.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The short id by which minisign names the key: 16 hexadecimal digits. It does not authenticate the key: it can
    /// be chosen freely.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{:016X}", self.id)
    }

    /// Checks that `signature` was made with this key, and for this file.
    ///
    /// # Errors
    /// [`SignatureError::OtherKey`] or [`SignatureError::Broken`].
    pub fn verify(&self, file: &[u8], signature: &Signature) -> Result<(), SignatureError> {
        self.key.verify(file, &signature.signature, false).map_err(|error| match error {
            minisign_verify::Error::UnexpectedKeyId => SignatureError::OtherKey,
            minisign_verify::Error::UnexpectedAlgorithm => SignatureError::NoSignature,
            _ => SignatureError::Broken,
        })
    }
}

#[derive(Clone)]
pub struct Signature {
    text: String,
    signature: minisign_verify::Signature,
}

impl std::fmt::Debug for Signature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Signature {
    /// Parses a signature.
    ///
    /// # Errors
    /// [`SignatureError::NoSignature`].
    pub fn parse(text: &str) -> Result<Self, SignatureError> {
        let fits = text.len() <= SIGNATURE_MAX && text.starts_with(COMMENT);
        let signature = minisign_verify::Signature::decode(text).ok().filter(|_| fits);
        Ok(Self { text: text.to_owned(), signature: signature.ok_or(SignatureError::NoSignature)? })
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The signed comment.
    #[must_use]
    pub fn trusted_comment(&self) -> &str {
        self.signature.trusted_comment()
    }

    /// The time of signing, from the signed comment (`timestamp:SECONDS`, as minisign writes it): seconds since the
    /// epoch.
    #[must_use]
    pub fn timestamp(&self) -> Option<i64> {
        self.trusted_comment().split('\t').find_map(|part| part.strip_prefix("timestamp:")?.parse().ok())
    }

    /// The public key in the first comment; its ownership is not verified.
    #[must_use]
    pub fn claimed_key(&self) -> Option<PublicKey> {
        let comment = self.text.lines().next()?.strip_prefix(COMMENT)?;
        PublicKey::parse(comment.strip_prefix(KEY_COMMENT)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key pair in the documentation of minisign.
    const KEY: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
    const SIGNATURE: &str = "untrusted comment: signature from minisign secret key\n\
        RUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/z7SrlQgXdy8ofjb7bNJJylDOocrCo8KLzZwo=\n\
        trusted comment: timestamp:1633700835\tfile:test\tprehashed\n\
        wLMDjy9FLAuxZ3q4NlEvkgtyhrr0gtTu6KC4KBJdITbbOeAi1zBIYo0v4iTgt8jJpIidRJnp94ABQkJAgAooBQ==\n";

    #[test]
    fn signature_of_the_standard_tool_is_verified() {
        let key = PublicKey::parse(&format!("untrusted comment: minisign public key\n{KEY}\n")).unwrap();
        assert_eq!((key.as_str(), key.id().as_str()), (KEY, "E7620F1842B4E81F"));
        let signature = Signature::parse(SIGNATURE).unwrap();
        assert_eq!(signature.trusted_comment(), "timestamp:1633700835\tfile:test\tprehashed");
        assert_eq!(key.verify(b"test", &signature), Ok(()));
        assert_eq!(key.verify(b"Test", &signature), Err(SignatureError::Broken));
        let comment = Signature::parse(&SIGNATURE.replace("file:test", "file:best")).unwrap();
        assert_eq!(key.verify(b"test", &comment), Err(SignatureError::Broken), "the signed comment");
        assert_eq!(signature.claimed_key(), None);
    }

    #[test]
    fn text_that_is_no_key_or_signature_is_refused() {
        for text in ["", "RWQ", "hello\n", &KEY[..55], &KEY.replace("RWQ", "ABC"), &"A".repeat(5000)] {
            assert_eq!(PublicKey::parse(text), Err(SignatureError::NoKey), "{text}");
        }
        let long = SIGNATURE.replace("minisign secret key", &"x".repeat(SIGNATURE_MAX));
        for text in ["", "untrusted comment: \n", &SIGNATURE[20..], &SIGNATURE.replace("RUQ", "AUQ"), &long] {
            assert!(Signature::parse(text).is_err_and(|error| error == SignatureError::NoSignature), "{text}");
        }
        // From a minisign before 0.10: over the file itself.
        let old = Signature::parse(&SIGNATURE.replace("RUQ", "RWQ")).unwrap();
        assert_eq!(PublicKey::parse(KEY).unwrap().verify(b"test", &old), Err(SignatureError::NoSignature));
    }
}
