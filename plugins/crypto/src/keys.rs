//! Uploads of a device, checked before anything is stored: points of the curve, and signatures (RFC 8032).
//!
//! Keys are kept as they were sent, since the signature is over the text of a key. Base64 may be padded or not: libolm
//! writes none.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use ed25519_dalek::{Signature, VerifyingKey};
use rookery_plugin::prelude::*;

use crate::device::Device;
use crate::sql;

/// How many one-time keys one upload brings: as many as libolm creates in one call.
const AT_ONCE: usize = 100;
/// How many are kept for a device.
const KEPT: usize = 200;
/// Longest id of a device or key, and longest name of a device, in characters.
const LENGTH: usize = 128;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The parameters of an upload.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Upload {
    device: Option<DeviceSent>,
    one_time_keys: Option<Vec<KeySent>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DeviceSent {
    device_id: Option<String>,
    name: Option<String>,
    fingerprint_key: Option<String>,
    identity_key: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct KeySent {
    key_id: Option<String>,
    key: Option<String>,
    signature: Option<String>,
}

/// The valid description of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeviceKeys {
    pub(crate) device_id: String,
    pub(crate) name: String,
    pub(crate) fingerprint_key: String,
    pub(crate) identity_key: String,
}

/// A one-time key, found valid and signed by its device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OneTimeKey {
    key_id: String,
    key: String,
    signature: String,
}

impl Upload {
    /// The device and its new one-time keys.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the value that is missing, too long, not a key, not signed, or duplicate.
    pub(crate) fn checked(self) -> Result<(DeviceKeys, Vec<OneTimeKey>)> {
        let sent = self.device.ok_or_else(|| wrong("Device can't be blank"))?;
        let device = DeviceKeys {
            device_id: text("Device id", sent.device_id)?,
            name: name(sent.name)?,
            fingerprint_key: text("Fingerprint key", sent.fingerprint_key)?,
            identity_key: text("Identity key", sent.identity_key)?,
        };
        let signer = point("Fingerprint key", &device.fingerprint_key)?;
        point("Identity key", &device.identity_key)?;
        let sent = self.one_time_keys.unwrap_or_default();
        if sent.len() > AT_ONCE {
            return Err(wrong(&format!("There are more than {AT_ONCE} one-time keys, which is the limit")));
        }
        let keys = sent.into_iter().map(|key| key.checked(&signer)).collect::<Result<Vec<_>>>()?;
        let (mut ids, mut texts) = (BTreeSet::new(), BTreeSet::new());
        if !keys.iter().all(|key| ids.insert(&key.key_id) && texts.insert(&key.key)) {
            return Err(wrong("A one-time key is there twice"));
        }
        Ok((device, keys))
    }
}

impl KeySent {
    fn checked(self, signer: &VerifyingKey) -> Result<OneTimeKey> {
        let key_id = text("Key id of a one-time key", self.key_id)?;
        let key = text("Key of a one-time key", self.key)?;
        let signature = text("Signature of a one-time key", self.signature)?;
        point("Key of a one-time key", &key)?;
        let bytes = BASE64.decode(&signature).ok().and_then(|bytes| Signature::from_slice(&bytes).ok());
        let signed = bytes.is_some_and(|bytes| signer.verify_strict(key.as_bytes(), &bytes).is_ok());
        if !signed {
            return Err(wrong("Signature of a one-time key is not of this device"));
        }
        Ok(OneTimeKey { key_id, key, signature })
    }
}

/// A point of the curve: 32 bytes in base64.
fn point(what: &str, text: &str) -> Result<VerifyingKey> {
    let bytes = BASE64.decode(text).ok().and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
    let key = bytes.and_then(|bytes| VerifyingKey::from_bytes(&bytes).ok());
    key.ok_or_else(|| wrong(&format!("{what} is not an Ed25519 public key in base64")))
}

fn text(what: &str, sent: Option<String>) -> Result<String> {
    let sent = sent.unwrap_or_default();
    if sent.trim().is_empty() {
        return Err(wrong(&format!("{what} can't be blank")));
    }
    fitting(what, sent)
}

fn name(sent: Option<String>) -> Result<String> {
    fitting("Name", sent.unwrap_or_default())
}

fn fitting(what: &str, text: String) -> Result<String> {
    if text.chars().count() > LENGTH {
        return Err(wrong(&format!("{what} is too long (maximum is {LENGTH} characters)")));
    }
    Ok(text)
}

/// Adds one-time keys to a device, whose owner is locked. Existing keys are not an error, so that an upload can be
/// repeated.
///
/// # Errors
/// [`Error::Invalid`] for an id or key that it has with another key or id, and when it would have too many.
pub(crate) fn add(device: &Device, keys: Vec<OneTimeKey>) -> Result<()> {
    if keys.is_empty() {
        return Ok(());
    }
    let held: Vec<(String, String)> = sql::keys_of(device.id).all()?;
    let is_held = |key: &OneTimeKey| held.iter().any(|(id, text)| (id, text) == (&key.key_id, &key.key));
    let new: Vec<OneTimeKey> = keys.into_iter().filter(|key| !is_held(key)).collect();
    if new.iter().any(|key| held.iter().any(|(id, text)| *id == key.key_id || *text == key.key)) {
        return Err(wrong("A one-time key has the id or the key of another one"));
    }
    if held.len() + new.len() > KEPT {
        return Err(wrong(&format!("There are {KEPT} one-time keys, which is the limit")));
    }
    let lots = lots(new.len());
    sql::many::add_key(
        new.into_iter()
            .zip(lots)
            .map(|(key, lot)| (device.id, device.account_id, key.key_id, key.key, key.signature, lot)),
    )?;
    Ok(())
}

/// Random numbers that are not negative.
fn lots(count: usize) -> Vec<i64> {
    let bytes = system::random(u32::try_from(count * 8).unwrap_or(0));
    let number = |bytes: &[u8]| bytes.iter().fold(0_i64, |number, byte| number << 8 | i64::from(*byte)) & i64::MAX;
    bytes.chunks_exact(8).map(number).collect()
}

fn wrong(what: &str) -> Error {
    Error::invalid(format!("Validation failed: {what}"))
}
