//! Public keys in the form of Multikey: a multibase text of a multicodec prefix and the key.
//!
//! Actors publish them beside or instead of a PEM. Converts to PEM, which [`rsa`](crate::rsa) reads; knows nothing of the
//! documents that hold them.
//!
//! Spec: <https://www.w3.org/TR/cid-1.0/#Multikey>, <https://www.w3.org/TR/cid-1.0/#multibase-0>

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::key_pair::pem;

/// Longest text that is decoded, in bytes: an RSA key of 8192 bits has about 1,420 characters.
const TEXT_MAX: usize = 1_536;

/// The multicodec of an Ed25519 public key (0xed), as a varint.
const ED25519: [u8; 2] = [0xed, 0x01];
/// Bytes of an Ed25519 public key.
const ED25519_BYTES: usize = 32;
/// What precedes these bytes in a SubjectPublicKeyInfo (RFC 8410, section 4).
const ED25519_SPKI: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// The multicodec of an RSA public key (0x1205), as a varint; PKCS#1 in DER follows.
const RSA: [u8; 2] = [0x85, 0x24];

/// The letters of base58btc, in the order of their values.
const BASE58: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// The PEM of the public key in `publicKeyMultibase`: a `PUBLIC KEY` for Ed25519, an `RSA PUBLIC KEY` for RSA. `None` for
/// other kinds of keys and encodings, and for a text that is longer than 1,536 bytes. Whether the key itself is valid is
/// decided when the PEM is parsed.
#[must_use]
pub fn to_pem(multibase: &str) -> Option<String> {
    if multibase.len() > TEXT_MAX {
        return None;
    }
    let bytes = match multibase.split_at_checked(1)? {
        ("z", text) => base58(text)?,
        ("u", text) => URL_SAFE_NO_PAD.decode(text).ok()?,
        _ => return None,
    };
    match bytes.split_first_chunk::<2>()? {
        (&ED25519, key) if key.len() == ED25519_BYTES => {
            Some(pem("PUBLIC KEY", &[ED25519_SPKI.as_slice(), key].concat()))
        }
        (&RSA, key) if !key.is_empty() => Some(pem("RSA PUBLIC KEY", key)),
        _ => None,
    }
}

/// Decodes base58btc. Time grows with the square of the length, which [`TEXT_MAX`] bounds.
fn base58(text: &str) -> Option<Vec<u8>> {
    // The number, its last byte first.
    let mut number: Vec<u8> = Vec::with_capacity(text.len());
    for letter in text.bytes() {
        let digit = BASE58.iter().position(|known| *known == letter)?;
        let mut carry = u32::try_from(digit).ok()?;
        for byte in &mut number {
            carry += u32::from(*byte) * 58;
            *byte = carry.to_le_bytes()[0];
            carry >>= 8;
        }
        while carry > 0 {
            number.push(carry.to_le_bytes()[0]);
            carry >>= 8;
        }
    }
    // Each leading zero is a letter of its own.
    number.extend(text.bytes().take_while(|letter| *letter == BASE58[0]).map(|_| 0));
    number.reverse();
    Some(number)
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;

    use super::*;
    use crate::rsa::{Algorithm, VerifyingKey};

    /// A key of the test suite of FEP-521a: its bytes and its text.
    const KEY: &str = "2e6fcce36701dc791488e0d0b1745cc1e33a4c1c9fcc41c63bd343dbbe0970e6";
    const KEY_TEXT: &str = "z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK";

    #[test]
    fn ed25519_key_of_the_proposal_is_read() {
        let pem = to_pem(KEY_TEXT).unwrap();
        assert_eq!(VerifyingKey::parse(&pem).unwrap().algorithm(), Algorithm::Ed25519);
        let body: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
        let hex: String = STANDARD.decode(body).unwrap()[12..].iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, KEY);
    }

    #[test]
    fn rsa_key_is_read_in_both_encodings() {
        let (public, _) = crate::key_pair::generate().unwrap();
        let body: String = public.lines().filter(|line| !line.starts_with('-')).collect();
        // The 24 bytes before it make a SubjectPublicKeyInfo of PKCS#1.
        let pkcs1 = STANDARD.decode(body).unwrap().split_off(24);
        let bytes = [RSA.as_slice(), &pkcs1].concat();
        for text in [format!("u{}", URL_SAFE_NO_PAD.encode(&bytes)), format!("z{}", encoded(&bytes))] {
            let pem = to_pem(&text).expect(&text);
            assert!(pem.starts_with("-----BEGIN RSA PUBLIC KEY-----"), "{pem}");
            assert_eq!(VerifyingKey::parse(&pem).unwrap().algorithm(), Algorithm::RsaV15Sha256);
        }
    }

    /// `bytes` in base58btc.
    fn encoded(bytes: &[u8]) -> String {
        let mut digits: Vec<u32> = Vec::new();
        for byte in bytes {
            let mut carry = u32::from(*byte);
            for digit in &mut digits {
                carry += *digit << 8;
                *digit = carry % 58;
                carry /= 58;
            }
            while carry > 0 {
                digits.push(carry % 58);
                carry /= 58;
            }
        }
        digits.iter().rev().map(|digit| char::from(BASE58[*digit as usize])).collect()
    }

    #[test]
    fn leading_zeros_are_kept() {
        assert_eq!(base58("11"), Some(vec![0, 0]));
        assert_eq!(base58("1112"), Some(vec![0, 0, 0, 1]));
        assert_eq!(base58("5Q"), Some(vec![0xff]));
        assert_eq!(base58(""), Some(Vec::new()));
    }

    #[test]
    fn other_texts_are_refused() {
        let long = format!("z{}", "2".repeat(TEXT_MAX));
        let other_kind = "zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme";
        for text in ["", "z", "é", "zO0Il", &KEY_TEXT[1..], &KEY_TEXT[..40], &long, other_kind, "u", "u==", "mAAAA"] {
            assert_eq!(to_pem(text), None, "{text}");
        }
    }
}
