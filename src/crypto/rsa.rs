//! Signing with the RSA key of an account, and verifying with the published key of a remote actor.
//!
//! Used for HTTP signatures. Own keys are RSA; a remote key may also be Ed25519, which RFC 9421 allows. Knows nothing
//! of requests: which bytes are signed is decided in `federation`. A signature takes about a millisecond of CPU time.
//!
//! Spec: RFC 8017 (RSASSA-PKCS1-v1_5, RSASSA-PSS), RFC 8032 (Ed25519), RFC 7468 (PEM).

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair, PublicKey};
use aws_lc_rs::signature::{
    ED25519, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RSA_PSS_2048_8192_SHA512, RsaParameters,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::{Error, Result, Secret};

/// Longest PEM that is parsed, in bytes; a key of 8192 bits has about 1,500 bytes, its private key about 6,500.
const PEM_MAX: usize = 16 * 1024;

/// Most keys that are read from one text.
pub const KEYS_MAX: usize = 4;

/// The beginning of a block of PEM.
const BEGIN: &str = "-----BEGIN ";

/// Bytes of an Ed25519 SubjectPublicKeyInfo (RFC 8410, section 4).
const ED25519_SPKI: usize = 44;

/// A private key, parsed and checked. Cheap to clone.
#[derive(Clone)]
pub struct SigningKey(Arc<KeyPair>);

impl SigningKey {
    /// Parses a PKCS#8 PEM, as [`crate::key_pair::generate`] writes it.
    ///
    /// # Errors
    /// When `pem` is not an RSA key of 2048 to 8192 bits.
    pub fn parse(pem: &Secret) -> Result<Self> {
        let der = der(pem.expose(), &["PRIVATE KEY"]).ok_or_else(|| Error::internal("not a PKCS#8 PEM"))?;
        KeyPair::from_pkcs8(&der).map(|pair| Self(Arc::new(pair))).map_err(Error::internal)
    }

    /// The signature of `message`: RSASSA-PKCS1-v1_5 with SHA-256.
    ///
    /// # Errors
    /// When the computation fails.
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>> {
        let mut signature = vec![0; self.0.public_modulus_len()];
        self.0.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature).map_err(Error::internal)?;
        Ok(signature)
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(***)")
    }
}

/// How a signature was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    RsaV15Sha256,
    /// RSASSA-PSS with SHA-512 and a salt of 64 bytes.
    RsaPssSha512,
    Ed25519,
}

/// A public key, parsed and checked.
#[derive(Clone, Debug)]
pub struct VerifyingKey(PublicKind);

#[derive(Clone, Debug)]
enum PublicKind {
    Rsa { v15: ParsedPublicKey, pss: ParsedPublicKey },
    Ed25519(ParsedPublicKey),
}

impl VerifyingKey {
    /// Parses the PEM of a `PUBLIC KEY` (SubjectPublicKeyInfo) or an `RSA PUBLIC KEY` (PKCS#1), with lines of any
    /// length. `None` for anything but an RSA key of 2048 to 8192 bits or an Ed25519 key.
    #[must_use]
    pub fn parse(pem: &str) -> Option<Self> {
        let der = der(pem, &["PUBLIC KEY", "RSA PUBLIC KEY"])?;
        if der.len() == ED25519_SPKI {
            return ParsedPublicKey::new(&ED25519, der).ok().map(|key| Self(PublicKind::Ed25519(key)));
        }
        let key = PublicKey::from_der(&der).ok()?;
        let bits = RsaParameters::public_modulus_len(key.as_ref()).ok()?;
        let range = RSA_PKCS1_2048_8192_SHA256.min_modulus_len()..=RSA_PKCS1_2048_8192_SHA256.max_modulus_len();
        if !range.contains(&bits) {
            return None;
        }
        let v15 = ParsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key.as_ref()).ok()?;
        let pss = ParsedPublicKey::new(&RSA_PSS_2048_8192_SHA512, key.as_ref()).ok()?;
        Some(Self(PublicKind::Rsa { v15, pss }))
    }

    /// The keys in `pems`, blocks of PEM one after the other: the first [`KEYS_MAX`] blocks, as far as
    /// [`VerifyingKey::parse`] reads them.
    pub fn parse_all(pems: &str) -> impl Iterator<Item = Self> {
        let starts = pems.match_indices(BEGIN).map(|(at, _)| at).take(KEYS_MAX);
        starts.filter_map(|at| {
            let block = &pems[at..];
            let end = block[BEGIN.len()..].find(BEGIN).map_or(block.len(), |next| next + BEGIN.len());
            Self::parse(&block[..end])
        })
    }

    /// The algorithm of a signature that names none.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        match &self.0 {
            PublicKind::Rsa { .. } => Algorithm::RsaV15Sha256,
            PublicKind::Ed25519(_) => Algorithm::Ed25519,
        }
    }

    /// True when `signature` was made of `message` with this key; false also when `algorithm` is for another kind of
    /// key.
    #[must_use]
    pub fn verify(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        let key = match (&self.0, algorithm) {
            (PublicKind::Rsa { v15, .. }, Algorithm::RsaV15Sha256) => v15,
            (PublicKind::Rsa { pss, .. }, Algorithm::RsaPssSha512) => pss,
            (PublicKind::Ed25519(key), Algorithm::Ed25519) => key,
            (PublicKind::Rsa { .. }, Algorithm::Ed25519)
            | (PublicKind::Ed25519(_), Algorithm::RsaV15Sha256 | Algorithm::RsaPssSha512) => return false,
        };
        key.verify_sig(message, signature).is_ok()
    }
}

/// The content of the first PEM block in `text`, if its label is one of `labels`.
fn der(text: &str, labels: &[&str]) -> Option<Vec<u8>> {
    if text.len() > PEM_MAX {
        return None;
    }
    let (label, rest) = text.split_once(BEGIN)?.1.split_once("-----")?;
    if !labels.contains(&label) {
        return None;
    }
    let (body, _) = rest.split_once(&format!("-----END {label}-----"))?;
    let body: String = body.split_ascii_whitespace().collect();
    STANDARD.decode(body).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_pair;

    /// The key `test-key-rsa` of RFC 9421, appendix B.1.1.
    const PKCS1: &str = "-----BEGIN RSA PUBLIC KEY-----
MIIBCgKCAQEAhAKYdtoeoy8zcAcR874L8cnZxKzAGwd7v36APp7Pv6Q2jdsPBRrw
WEBnez6d0UDKDwGbc6nxfEXAy5mbhgajzrw3MOEt8uA5txSKobBpKDeBLOsdJKFq
MGmXCQvEG7YemcxDTRPxAleIAgYYRjTSd/QBwVW9OwNFhekro3RtlinV0a75jfZg
kne/YiktSvLG34lw2zqXBDTC5NHROUqGTlML4PlNZS5Ri2U4aCNx2rUPRcKIlE0P
uKxI4T+HIaFpv8+rdV6eUgOrB2xeI1dSFFn/nnv5OoZJEIB+VmuKn3DCUcCZSFlQ
PSXSfBDiUGhwOw76WuSSsf1D4b/vLoJ10wIDAQAB
-----END RSA PUBLIC KEY-----
";
    /// The key `test-key-ed25519` of RFC 9421, appendix B.1.4.
    const ED25519_PEM: &str = "-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=
-----END PUBLIC KEY-----";
    /// A key of 1024 bits, from draft-cavage-http-signatures-12, appendix C.
    const SHORT: &str = "-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDCFENGw33yGihy92pDjZQhl0C3
6rPJj+CvfSC8+q28hxA161QFNUd13wuCTUcq0Qd2qsBe/2hFyc2DCJJg0h1L78+6
Z4UMR7EOcpfdUE9Hf3m/hs+FUR45uBJeDK1HSFHD8bHKD6kv8FPGfJTotc+2xjJw
oYi+1hqp1fIekaxsyQIDAQAB
-----END PUBLIC KEY-----";

    #[test]
    fn signature_is_verified_by_its_key_only() {
        let (public, private) = key_pair::generate().unwrap();
        let (key, public) = (SigningKey::parse(&private).unwrap(), VerifyingKey::parse(&public).unwrap());
        let signature = key.clone().sign(b"message").unwrap();
        assert!(public.verify(Algorithm::RsaV15Sha256, b"message", &signature));
        assert!(!public.verify(Algorithm::RsaV15Sha256, b"massage", &signature));
        assert!(!public.verify(Algorithm::RsaV15Sha256, b"message", &signature[1..]));
        assert!(!public.verify(Algorithm::RsaV15Sha256, b"message", b""));
        assert!(!public.verify(Algorithm::RsaPssSha512, b"message", &signature));
        assert!(!public.verify(Algorithm::Ed25519, b"message", &signature));
        assert!(!VerifyingKey::parse(PKCS1).unwrap().verify(Algorithm::RsaV15Sha256, b"message", &signature));
        assert_eq!(format!("{key:?}"), "SigningKey(***)");
    }

    #[test]
    fn public_key_parses_with_any_lines() {
        let (public, _) = key_pair::generate().unwrap();
        let (begin, end) = ("-----BEGIN PUBLIC KEY-----", "-----END PUBLIC KEY-----");
        let body = public.replace(begin, "").replace(end, "").replace('\n', "");
        let one_line = format!("{begin}\n{body}\n{end}");
        let short_lines: Vec<_> = body.as_bytes().chunks(9).map(String::from_utf8_lossy).collect();
        let short_lines = format!("{begin}\n{}\n{end}", short_lines.join("\n"));
        for pem in [&public, &public.replace('\n', "\r\n"), &one_line, &short_lines, PKCS1] {
            let key = VerifyingKey::parse(pem).expect(pem);
            assert_eq!(key.algorithm(), Algorithm::RsaV15Sha256);
        }
        assert_eq!(VerifyingKey::parse(ED25519_PEM).unwrap().algorithm(), Algorithm::Ed25519);
    }

    #[test]
    fn keys_parse_one_after_the_other() {
        let all = |pems: &str| VerifyingKey::parse_all(pems).map(|key| key.algorithm()).collect::<Vec<_>>();
        let (rsa, ed25519) = (Algorithm::RsaV15Sha256, Algorithm::Ed25519);
        assert_eq!(all(&format!("{PKCS1}{ED25519_PEM}")), [rsa, ed25519]);
        assert_eq!(all(&format!("{ED25519_PEM}\n{SHORT}\n{PKCS1}")), [ed25519, rsa], "a short key is left out");
        assert_eq!(all(&ED25519_PEM.repeat(9)), [ed25519; KEYS_MAX]);
        assert_eq!(all(""), []);
    }

    #[test]
    fn other_keys_are_refused() {
        let (public, private) = key_pair::generate().unwrap();
        let cut = public.replace("-----END", "----END");
        let padded = format!("{}{public}", " ".repeat(PEM_MAX));
        for pem in ["", "-----BEGIN PUBLIC KEY-----", SHORT, private.expose(), &cut, &padded, &public[200..]] {
            assert!(VerifyingKey::parse(pem).is_none(), "{pem}");
        }
        for pem in [public.as_str(), "", ED25519_PEM] {
            assert!(SigningKey::parse(&pem.to_owned().into()).is_err(), "{pem}");
        }
    }
}
