//! Web push messages: their encryption for a receiver, and the signature that authenticates the sender to a push
//! service.
//!
//! Both encodings: `aes128gcm` (RFC 8291) and the older `aesgcm` (draft-ietf-webpush-encryption-04), the only one
//! that many apps support. [`Vapid`] is the key pair of RFC 8292. This module sends nothing and does not know the
//! content of messages.

use std::fmt;

use aws_lc_rs::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::agreement::{ECDH_P256, PrivateKey, UnparsedPublicKey, agree};
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Salt};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::{Error, Result, Secret, fill_random};

/// Bytes of an uncompressed point of P-256.
const POINT_BYTES: usize = 65;
/// Bytes of the secret shared between a receiver and its senders (RFC 8291, section 3.2).
const AUTH_BYTES: usize = 16;
/// Bytes of the salt of a message.
const SALT_BYTES: usize = 16;
/// Bytes of the tag at the end of an encrypted record.
const TAG_BYTES: usize = 16;
/// The size of the one record of a message: the minimum that push services accept (RFC 8030, section 7.2).
const RECORD_BYTES: u16 = 4096;
/// Most bytes of a message before its encryption, in either encoding.
pub const MAX_MESSAGE_BYTES: usize = RECORD_BYTES as usize - (SALT_BYTES + 4 + 1 + POINT_BYTES) - 1 - TAG_BYTES;

/// base64url as browsers and apps send it: with or without padding. Some send characters of plain base64.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The receiver of messages: the keys of a subscription.
#[derive(Clone, PartialEq, Eq)]
pub struct Receiver {
    point: Vec<u8>,
    auth: Vec<u8>,
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receiver(***)")
    }
}

/// A message in the encoding `aesgcm`: its body, and the values of its headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aesgcm {
    /// For the header `Encryption`, base64url.
    pub salt: String,
    /// The sender's key of this message, for the header `Crypto-Key`, base64url.
    pub sender: String,
    /// The encrypted message.
    pub body: Vec<u8>,
}

/// The key and salt generated for each message.
struct Fresh {
    key: PrivateKey,
    salt: [u8; SALT_BYTES],
}

impl Fresh {
    fn draw() -> Result<Self> {
        let mut salt = [0; SALT_BYTES];
        fill_random(&mut salt);
        Ok(Self { key: PrivateKey::generate(&ECDH_P256).map_err(Error::internal)?, salt })
    }
}

impl Receiver {
    /// Parses the keys of a subscription, as base64url: an uncompressed point of P-256, and a secret of 16 bytes.
    ///
    /// # Errors
    /// The name of the invalid key in a subscription: `p256dh` or `auth`.
    pub fn parse(p256dh: &str, auth: &str) -> Result<Self, &'static str> {
        let decode = |text: &str, bytes| {
            let decoded = LENIENT.decode(text.trim().replace('+', "-").replace('/', "_")).ok();
            decoded.filter(|decoded| decoded.len() == bytes)
        };
        let point = decode(p256dh, POINT_BYTES).ok_or("p256dh")?;
        let auth = decode(auth, AUTH_BYTES).ok_or("auth")?;
        let receiver = Self { point, auth };
        // Key agreement fails for a point that is not on the curve.
        let key = PrivateKey::generate(&ECDH_P256).map_err(|_| "p256dh")?;
        receiver.agree(&key).map_err(|_| "p256dh")?;
        Ok(receiver)
    }

    /// Encrypts `message` (RFC 8291): the whole body, which has its own header.
    ///
    /// # Errors
    /// When it is longer than [`MAX_MESSAGE_BYTES`].
    pub fn aes128gcm(&self, message: &[u8]) -> Result<Vec<u8>> {
        self.aes128gcm_with(&Fresh::draw()?, message)
    }

    /// Encrypts `message` in the older encoding.
    ///
    /// # Errors
    /// When it is longer than [`MAX_MESSAGE_BYTES`].
    pub fn aesgcm(&self, message: &[u8]) -> Result<Aesgcm> {
        self.aesgcm_with(&Fresh::draw()?, message)
    }

    fn aes128gcm_with(&self, fresh: &Fresh, message: &[u8]) -> Result<Vec<u8>> {
        check_length(message)?;
        let sender = fresh.key.compute_public_key().map_err(Error::internal)?;
        let info = [b"WebPush: info\0", self.point.as_slice(), sender.as_ref()].concat();
        let input = derive::<32>(&self.auth, &self.agree(&fresh.key)?, &info)?;
        let key = derive::<16>(&fresh.salt, &input, b"Content-Encoding: aes128gcm\0")?;
        let nonce = derive::<12>(&fresh.salt, &input, b"Content-Encoding: nonce\0")?;
        // The last record ends with the byte 2.
        let record = encrypt(key, nonce, [message, &[2]].concat())?;
        let point_bytes = [u8::try_from(POINT_BYTES).expect("65 fits")];
        let record_bytes = u32::from(RECORD_BYTES).to_be_bytes();
        Ok([fresh.salt.as_slice(), &record_bytes, &point_bytes, sender.as_ref(), &record].concat())
    }

    fn aesgcm_with(&self, fresh: &Fresh, message: &[u8]) -> Result<Aesgcm> {
        check_length(message)?;
        let sender = fresh.key.compute_public_key().map_err(Error::internal)?;
        let length = u16::try_from(POINT_BYTES).expect("65 fits").to_be_bytes();
        let context = [b"P-256\0".as_slice(), &length, &self.point, &length, sender.as_ref()].concat();
        let info = |name: &str| [b"Content-Encoding: ", name.as_bytes(), b"\0", context.as_slice()].concat();
        let input = derive::<32>(&self.auth, &self.agree(&fresh.key)?, b"Content-Encoding: auth\0")?;
        let key = derive::<16>(&fresh.salt, &input, &info("aesgcm"))?;
        let nonce = derive::<12>(&fresh.salt, &input, &info("nonce"))?;
        // Preceded by the length of the padding, which is 0.
        let body = encrypt(key, nonce, [&[0, 0], message].concat())?;
        Ok(Aesgcm { salt: URL_SAFE_NO_PAD.encode(fresh.salt), sender: URL_SAFE_NO_PAD.encode(sender), body })
    }

    /// The secret that both sides compute (ECDH).
    fn agree(&self, key: &PrivateKey) -> Result<Vec<u8>> {
        let failed = || Error("the receiver's key is no point of P-256".to_owned());
        agree(key, UnparsedPublicKey::new(&ECDH_P256, &self.point), failed(), |secret| Ok(secret.to_vec()))
    }
}

fn check_length(message: &[u8]) -> Result<()> {
    let fits = message.len() <= MAX_MESSAGE_BYTES;
    if fits { Ok(()) } else { Err(Error(format!("a push message has at most {MAX_MESSAGE_BYTES} bytes"))) }
}

/// `N` bytes by HKDF with SHA-256 (RFC 5869).
fn derive<const N: usize>(salt: &[u8], input: &[u8], info: &[u8]) -> Result<[u8; N]> {
    struct Bytes(usize);
    impl KeyType for Bytes {
        fn len(&self) -> usize {
            self.0
        }
    }
    let mut derived = [0; N];
    let key = Salt::new(HKDF_SHA256, salt).extract(input);
    let info = [info];
    let output = key.expand(&info, Bytes(N)).map_err(Error::internal)?;
    output.fill(&mut derived).map_err(Error::internal)?;
    Ok(derived)
}

/// AES-128-GCM; the key is used once, and so is the nonce.
fn encrypt(key: [u8; 16], nonce: [u8; 12], mut text: Vec<u8>) -> Result<Vec<u8>> {
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).map_err(Error::internal)?);
    let nonce = Nonce::assume_unique_for_key(nonce);
    key.seal_in_place_append_tag(nonce, Aad::empty(), &mut text).map_err(Error::internal)?;
    Ok(text)
}

/// The key pair for signing a server's pushes (RFC 8292).
pub struct Vapid {
    pair: EcdsaKeyPair,
    public_key: String,
}

impl fmt::Debug for Vapid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Vapid({})", self.public_key)
    }
}

impl Vapid {
    /// Generates a private key: PKCS #8, base64url.
    pub fn generate() -> Result<Secret> {
        let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        Ok(Secret(URL_SAFE_NO_PAD.encode(key.map_err(Error::internal)?)))
    }

    /// The key pair of a private key from [`Vapid::generate`].
    ///
    /// # Errors
    /// When the private key is invalid.
    pub fn parse(private_key: &Secret) -> Result<Self> {
        let key = URL_SAFE_NO_PAD.decode(private_key.expose()).map_err(Error::internal)?;
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &key).map_err(Error::internal)?;
        let public_key = URL_SAFE_NO_PAD.encode(pair.public_key());
        Ok(Self { pair, public_key })
    }

    /// The public key as sent to clients and push services: an uncompressed point, base64url.
    #[must_use]
    pub fn public_key(&self) -> &str {
        &self.public_key
    }

    /// A token (JWT, RFC 7519, ES256) for the push service at `audience` (`https://push.example`), valid until
    /// `expires`, in seconds since the epoch. `contact` is the contact address for the service: a `mailto:` or
    /// `https:` URI.
    pub fn sign(&self, audience: &str, expires: i64, contact: &str) -> Result<String> {
        let header = URL_SAFE_NO_PAD.encode(br#"{"typ":"JWT","alg":"ES256"}"#);
        let quoted = |text: &str| serde_json::Value::from(text);
        let claims = format!(r#"{{"aud":{},"exp":{expires},"sub":{}}}"#, quoted(audience), quoted(contact));
        let signed = format!("{header}.{}", URL_SAFE_NO_PAD.encode(claims));
        let signature = self.pair.sign(&SystemRandom::new(), signed.as_bytes()).map_err(Error::internal)?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey as Verifier};

    use super::*;

    fn fresh(private_key: &str, salt: &str) -> Fresh {
        let key = URL_SAFE_NO_PAD.decode(private_key).unwrap();
        let salt = URL_SAFE_NO_PAD.decode(salt).unwrap();
        Fresh { key: PrivateKey::from_private_key(&ECDH_P256, &key).unwrap(), salt: salt.try_into().unwrap() }
    }

    /// RFC 8291, section 5.
    #[test]
    fn aes128gcm_matches_the_example() {
        let receiver = Receiver::parse(
            "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            "BTBZMqHH6r4Tts7J_aSIgg",
        );
        let fresh = fresh("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw", "DGv6ra1nlYgDCS1FRnbzlw");
        let body = receiver.unwrap().aes128gcm_with(&fresh, b"When I grow up, I want to be a watermelon").unwrap();
        assert_eq!(
            URL_SAFE_NO_PAD.encode(body),
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7\
             A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
        );
    }

    /// draft-ietf-webpush-encryption-04, section 5.
    #[test]
    fn aesgcm_matches_the_example() {
        let receiver = Receiver::parse(
            "BCEkBjzL8Z3C-oi2Q7oE5t2Np-p7osjGLg93qUP0wvqRT21EEWyf0cQDQcakQMqz4hQKYOQ3il2nNZct4HgAUQU",
            "R29vIGdvbyBnJyBqb29iIQ",
        );
        let fresh = fresh("nCScek-QpEjmOOlT-rQ38nZzvdPlqa00Zy0i6m2OJvY", "lngarbyKfMoi9Z75xYXmkg");
        let sent = receiver.unwrap().aesgcm_with(&fresh, b"I am the walrus").unwrap();
        assert_eq!(URL_SAFE_NO_PAD.encode(&sent.body), "6nqAQUME8hNqw5J3kl8cpVVJylXKYqZOeseZG8UueKpA");
        assert_eq!(sent.salt, "lngarbyKfMoi9Z75xYXmkg");
        assert_eq!(
            sent.sender,
            "BNoRDbb84JGm8g5Z5CFxurSqsXWJ11ItfXEWYVLE85Y7CYkDjXsIEc4aqxYaQ1G8BqkXCJ6DPpDrWtdWj_mugHU"
        );
    }

    #[test]
    fn keys_that_cannot_be_used_are_named() {
        let point = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
        let auth = "BTBZMqHH6r4Tts7J_aSIgg";
        assert!(Receiver::parse(&format!("{point}="), &format!("{auth}==")).is_ok(), "padded");
        assert!(Receiver::parse(&point.replace('-', "+").replace('_', "/"), auth).is_ok(), "plain base64");
        let off_curve = format!("{}5", &point[..point.len() - 1]);
        for p256dh in ["", "####", &point[..40], &off_curve.replace("Vd8pZ", "AAAAA"), &"B".repeat(87)] {
            assert_eq!(Receiver::parse(p256dh, auth), Err("p256dh"), "{p256dh}");
        }
        for auth in ["", "short", "BTBZMqHH6r4Tts7J_aSIggAA"] {
            assert_eq!(Receiver::parse(point, auth), Err("auth"), "{auth}");
        }
    }

    #[test]
    fn longest_message_fills_a_record() {
        let receiver = Receiver::parse(
            "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            "BTBZMqHH6r4Tts7J_aSIgg",
        )
        .unwrap();
        let longest = vec![b'x'; MAX_MESSAGE_BYTES];
        assert_eq!(receiver.aes128gcm(&longest).unwrap().len(), 4096);
        assert!(receiver.aesgcm(&longest).unwrap().body.len() < 4096);
        let longer = vec![b'x'; MAX_MESSAGE_BYTES + 1];
        assert!(receiver.aes128gcm(&longer).is_err() && receiver.aesgcm(&longer).is_err());
    }

    #[test]
    fn token_is_signed_with_the_key_that_is_shown() {
        let vapid = Vapid::parse(&Vapid::generate().unwrap()).unwrap();
        let token = vapid.sign("https://push.example", 1_700_000_000, "mailto:a\"b@c.example").unwrap();
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let (header, claims) = signed.split_once('.').unwrap();
        assert_eq!(URL_SAFE_NO_PAD.decode(header).unwrap(), br#"{"typ":"JWT","alg":"ES256"}"#);
        assert_eq!(
            URL_SAFE_NO_PAD.decode(claims).unwrap(),
            br#"{"aud":"https://push.example","exp":1700000000,"sub":"mailto:a\"b@c.example"}"#
        );
        let public_key = URL_SAFE_NO_PAD.decode(vapid.public_key()).unwrap();
        assert_eq!(public_key.len(), 65);
        let verifier = Verifier::new(&ECDSA_P256_SHA256_FIXED, public_key);
        verifier.verify(signed.as_bytes(), &URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
        assert!(Vapid::parse(&Secret("nonsense".into())).is_err());
        assert!(!format!("{vapid:?}").contains("PRIVATE"));
    }
}
