//! The RSA key pairs with which accounts sign requests to other servers (HTTP signatures).
//!
//! RSA 2048, since other servers verify it (docs/contract/federation.md#3-documents-sent).

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::KeyPair as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::{Error, Result, Secret};

/// Characters per line of a PEM file (RFC 7468, section 2).
const PEM_LINE: usize = 64;

/// Generates a key pair: public key (SubjectPublicKeyInfo) and private key (PKCS#8), both PEM. Takes some 100 ms of
/// CPU time.
///
/// # Errors
/// When the random number generator fails.
pub fn generate() -> Result<(String, Secret)> {
    let pair = KeyPair::generate(KeySize::Rsa2048).map_err(Error::internal)?;
    let private: Pkcs8V1Der<'_> = pair.as_der().map_err(Error::internal)?;
    let public: PublicKeyX509Der<'_> = pair.public_key().as_der().map_err(Error::internal)?;
    Ok((pem("PUBLIC KEY", public.as_ref()), pem("PRIVATE KEY", private.as_ref()).into()))
}

/// `der` as a PEM file.
pub(crate) fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let mut out = format!("-----BEGIN {label}-----\n");
    for line in text.as_bytes().chunks(PEM_LINE) {
        out.push_str(&String::from_utf8_lossy(line));
        out.push('\n');
    }
    out.push_str(&format!("-----END {label}-----\n"));
    out
}
