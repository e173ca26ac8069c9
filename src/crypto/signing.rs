//! Creating keys and signatures in the format of minisign, for authors of plugins.
//!
//! The files are compatible with the standard tool, in both directions. Only the authors' tools include this module:
//! a server signs no files. Verification is in [`signature`](crate::signature).

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minisign::{KeyPair, SecretKey, SecretKeyBox};

use crate::Secret;
use crate::signature::{KEY_COMMENT, PublicKey, Signature, SignatureError};

/// The bytes of a secret key that specify its encryption.
const KDF: std::ops::Range<usize> = 2..4;

/// Bytes of the checksum at its end.
const CHECKSUM: usize = 32;

/// Why signing failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SigningError {
    /// The text is not a secret key.
    #[error("it is no secret key of minisign")]
    NoKey,
    /// The key is encrypted, and no password was given.
    #[error("the key is encrypted, and there is no password for it")]
    NoPassword,
    /// The password is wrong.
    #[error("the password of the key is another")]
    OtherPassword,
    /// The library failed.
    #[error("{0}")]
    Failed(String),
}

impl SigningError {
    fn failed(cause: impl fmt::Display) -> Self {
        Self::Failed(cause.to_string())
    }
}

impl From<SignatureError> for SigningError {
    fn from(error: SignatureError) -> Self {
        Self::failed(error)
    }
}

/// A new key pair, as the texts of its files.
#[derive(Debug)]
pub struct KeyFiles {
    /// Not encrypted: the file's permissions protect it.
    pub secret: Secret,
    /// For everyone.
    pub public: String,
}

/// Generates a key pair.
///
/// # Errors
/// [`SigningError::Failed`], which is a fault of the machine.
pub fn generate() -> Result<KeyFiles, SigningError> {
    let KeyPair { pk, sk } = KeyPair::generate_unencrypted_keypair().map_err(SigningError::failed)?;
    let secret = sk.to_box(None).map_err(SigningError::failed)?.into_string();
    Ok(KeyFiles { secret: secret.into(), public: pk.to_box().map_err(SigningError::failed)?.into_string() })
}

/// Signs `file` with the secret key in the text `secret`; `password` decrypts an encrypted key. Signatures are
/// randomised, so each one differs.
///
/// # Errors
/// [`SigningError`] with the reason.
pub fn sign(
    secret: &Secret,
    password: Option<&Secret>,
    file: &[u8],
    trusted_comment: &str,
) -> Result<(Signature, PublicKey), SigningError> {
    let key = open(secret, password)?;
    let public = minisign::PublicKey::from_secret_key(&key).map_err(SigningError::failed)?;
    let claimed = format!("{KEY_COMMENT}{}", public.to_base64());
    let signed = minisign::sign(Some(&public), &key, file, Some(trusted_comment), Some(&claimed));
    let signature = Signature::parse(&signed.map_err(SigningError::failed)?.into_string())?;
    let public = PublicKey::parse(&public.to_base64())?;
    public.verify(file, &signature)?;
    Ok((signature, public))
}

/// Decodes a secret key, decrypting it if necessary.
fn open(secret: &Secret, password: Option<&Secret>) -> Result<SecretKey, SigningError> {
    let line = secret.expose().lines().nth(1).unwrap_or_default();
    let bytes = STANDARD.decode(line.trim()).map_err(|_| SigningError::NoKey)?;
    let parsed = SecretKeyBox::from_string(secret.expose()).map_err(|_| SigningError::NoKey)?;
    match (bytes.get(KDF), password) {
        // The standard tool writes no checksum into a key without a password, but the library requires one.
        (Some([0, 0]), _) if bytes.ends_with(&[0; CHECKSUM]) => {
            SecretKey::from_bytes(&bytes).map_err(|_| SigningError::NoKey)
        }
        (Some([0, 0]), _) => parsed.into_unencrypted_secret_key().map_err(|_| SigningError::NoKey),
        (Some(b"Sc"), None) => Err(SigningError::NoPassword),
        (Some(b"Sc"), Some(password)) => {
            let opened = parsed.into_secret_key(Some(password.expose().to_owned()));
            opened.map_err(|_| SigningError::OtherPassword)
        }
        _ => Err(SigningError::NoKey),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_file_is_verified_by_the_key_that_the_signature_claims() {
        let keys = generate().unwrap();
        let (signature, public) = sign(&keys.secret, None, b"file", "file:notes").unwrap();
        assert_eq!(PublicKey::parse(&keys.public).unwrap(), public);
        assert_eq!(signature.claimed_key(), Some(public.clone()));
        assert_eq!(signature.trusted_comment(), "file:notes");
        assert_eq!(public.verify(b"file", &signature), Ok(()));
        assert_eq!(public.verify(b"fil", &signature), Err(SignatureError::Broken));

        let other = PublicKey::parse(&generate().unwrap().public).unwrap();
        assert_eq!(other.verify(b"file", &signature), Err(SignatureError::OtherKey));
        assert!(!format!("{keys:?}").contains(keys.secret.expose().lines().nth(1).unwrap()));
    }

    #[test]
    fn key_of_the_standard_tool_signs() {
        // Generated by `minisign -G -W` for this test.
        let secret = "untrusted comment: minisign encrypted secret key\n\
            RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAApAfW4DmhNJ60nseK56k2vqy8EdFRNqE/uf5hk9\
            0Rd+Yo5Xs+wpPjuWnwPdgGq22vfn14KVQrOAU5ml36hC1filDUpOmqblP1AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";
        let (signature, key) = sign(&Secret::from(secret.to_owned()), None, b"file", "").unwrap();
        assert_eq!(key.as_str(), "RWSkB9bgOaE0nmnwPdgGq22vfn14KVQrOAU5ml36hC1filDUpOmqblP1");
        assert_eq!(key.verify(b"file", &signature), Ok(()));
    }

    #[test]
    fn encrypted_key_asks_for_its_password() {
        let pair = KeyPair::generate_encrypted_keypair(Some("open sesame".to_owned())).unwrap();
        let secret = Secret::from(pair.sk.to_box(None).unwrap().into_string());
        let with = |password: Option<&str>| {
            let password = password.map(|text| Secret::from(text.to_owned()));
            sign(&secret, password.as_ref(), b"file", "").map(|(_, key)| key.as_str().to_owned())
        };
        assert_eq!(with(None), Err(SigningError::NoPassword));
        assert_eq!(with(Some("wrong")), Err(SigningError::OtherPassword));
        assert_eq!(with(Some("open sesame")), Ok(pair.pk.to_base64()));
        for text in ["", "rubbish", "untrusted comment: \nAAAA\n"] {
            let error = sign(&Secret::from(text.to_owned()), None, b"file", "").unwrap_err();
            assert_eq!(error, SigningError::NoKey, "{text:?}");
        }
    }
}
