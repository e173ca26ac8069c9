//! Delivers messages to devices, and serves the inbox of a device.
//!
//! Ids of a device's messages grow in the order in which they can be read: its owner's row is locked while one is
//! added, so that a client which reads on from the last one, or clears up to it, misses none.

use std::collections::BTreeMap;

use rookery_plugin::prelude::*;
use rookery_plugin::time::iso;

use crate::device::{self, Address, Device};
use crate::message::{EncryptedMessage, Franking, Message};
use crate::{at_most, sql};

/// Longest body, in bytes.
const BODY: usize = 32 << 10;
/// Longest hmac, in bytes.
const HMAC: usize = 256;
/// Longest message as JSON, in bytes: the limit of a stream.
const WHOLE: usize = 60 << 10;
/// How many messages wait for a device.
const WAITING: i64 = 1_000;
/// The share of one sender, so that no sender fills another's inbox alone.
const OF_ONE: i64 = 200;
/// Bytes of the messages that wait for all devices of a person.
const FOR_PERSON: i64 = 16 << 20;
/// Bytes of the messages from one account.
const FOR_PAIR: i64 = 4 << 20;
/// Bytes of the messages that one account sent and that wait, for whomever.
const FROM_PERSON: i64 = 32 << 20;
/// Bytes of a message beside its texts.
const BESIDE: usize = 100;
/// Bits of an id below its millisecond (contract, `types.id`).
const BELOW: u32 = 16;

/// The parameters of a delivery.
#[derive(Deserialize)]
struct Deliveries {
    #[serde(default)]
    device: Vec<Letter>,
}

/// A message for one device.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Letter {
    account_id: String,
    device_id: String,
    r#type: Option<i32>,
    body: Option<String>,
    hmac: Option<String>,
}

impl Letter {
    fn address(&self) -> Address {
        Address::new(&self.account_id, &self.device_id)
    }

    /// Its type, body and hmac.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the missing or too long value.
    fn checked(self) -> Result<(i64, String, String)> {
        let wrong = |what: &str| Error::invalid(format!("Validation failed: {what}"));
        let kind = self.r#type.filter(|kind| *kind >= 0).ok_or_else(|| wrong("Type is not a number from 0"))?;
        let text = |name: &str, sent: Option<String>, most: usize| match sent.unwrap_or_default() {
            text if text.is_empty() => Err(wrong(&format!("{name} can't be blank"))),
            text if text.len() > most => Err(wrong(&format!("{name} is too long (maximum is {most} bytes)"))),
            text => Ok(text),
        };
        Ok((kind.into(), text("Body", self.body, BODY)?, text("Hmac", self.hmac, HMAC)?))
    }
}

/// `POST /api/v1/crypto/deliveries`: all messages, or none when one device is unknown.
#[route(post, "/api/v1/crypto/deliveries", scopes = ["crypto"])]
fn deliver(ctx: &Context, Params(sent): Params<Deliveries>) -> Result<Output> {
    at_most(sent.device.len(), "messages")?;
    let own = device::own(ctx)?;
    let addresses: Vec<Address> = sent.device.iter().map(Letter::address).collect();
    let letters = sent.device.into_iter().map(Letter::checked).collect::<Result<Vec<_>>>()?;
    let devices = device::held(ctx, &addresses)?;
    let mut targets: BTreeMap<i64, Device> = BTreeMap::new();
    let mut messages: Vec<(i64, Message)> = Vec::new();
    let at = system::now();
    for (address, (kind, body, hmac)) in addresses.iter().zip(letters) {
        let found = address.key().and_then(|key| devices.get(&key)).ok_or(Error::NotFound)?;
        let target = targets.entry(found.id.0).or_insert_with(|| found.clone());
        target.last_message = (target.last_message + 1).max(at << BELOW);
        let franking = Franking {
            hmac: hmac.clone(),
            source_account_id: own.account_id,
            target_account_id: target.account_id,
            timestamp: iso(at),
            original_franking: None,
        };
        let message = Message {
            id: Id(target.last_message),
            from_account_id: own.account_id,
            from_device: own.device_id.clone(),
            r#type: kind,
            body,
            digest: hmac,
            franking: franking.seal()?,
            created_at: at,
        };
        messages.push((target.id.0, message));
    }
    if messages.is_empty() {
        return Output::empty();
    }
    check_room(&own, &targets, &messages)?;
    check_bytes(&own, &targets, &messages)?;
    store(&targets, &messages)?;
    stream(&targets, messages)?;
    Output::empty()
}

/// # Errors
/// [`Error::Invalid`] when more messages would wait for a device than may.
fn check_room(own: &Device, targets: &BTreeMap<i64, Device>, messages: &[(i64, Message)]) -> Result<()> {
    let ids: Vec<i64> = targets.keys().copied().collect();
    let waiting: Vec<(i64, i64, i64)> = sql::waiting(ids, own.account_id).all()?;
    let mut counts: BTreeMap<i64, (i64, i64)> =
        waiting.into_iter().map(|(device, total, own)| (device, (total, own))).collect();
    for (device, _) in messages {
        let (total, own) = counts.entry(*device).or_default();
        (*total, *own) = (*total + 1, *own + 1);
        if *total > WAITING || *own > OF_ONE {
            let name = targets.get(device).map_or("", |target| &target.device_id);
            return Err(Error::invalid(format!("Validation failed: Too many messages wait for the device {name}")));
        }
    }
    Ok(())
}

/// # Errors
/// [`Error::Invalid`] when more bytes would wait for a person, of this sender or of all, than may.
fn check_bytes(own: &Device, targets: &BTreeMap<i64, Device>, messages: &[(i64, Message)]) -> Result<()> {
    let wrong = |what: &str| Error::invalid(format!("Validation failed: Too many messages {what}"));
    let mut added: BTreeMap<i64, i64> = BTreeMap::new();
    for (device, message) in messages {
        if let Some(target) = targets.get(device) {
            *added.entry(target.account_id.0).or_default() += size(message);
        }
    }
    let sent: i64 = sql::kept_from(own.account_id).one()?;
    if sent + added.values().sum::<i64>() > FROM_PERSON {
        return Err(wrong("of yours wait for others"));
    }
    let accounts: Vec<i64> = added.keys().copied().collect();
    for (account, total, of_sender) in sql::kept_for(accounts, own.account_id).all::<(i64, i64, i64)>()? {
        let more = added.get(&account).copied().unwrap_or(0);
        if total + more > FOR_PERSON || of_sender + more > FOR_PAIR {
            return Err(wrong(&format!("wait for the account {account}")));
        }
    }
    Ok(())
}

/// Bytes that a message takes while it waits.
fn size(message: &Message) -> i64 {
    let texts = message.body.len() + message.digest.len() + message.franking.len() + message.from_device.len();
    i64::try_from(texts + BESIDE).unwrap_or(i64::MAX)
}

fn store(targets: &BTreeMap<i64, Device>, messages: &[(i64, Message)]) -> Result<()> {
    sql::many::add_message(messages.iter().filter_map(|(device, message)| {
        let target = targets.get(device)?;
        let Message { id, from_account_id, from_device, r#type, body, digest, franking, created_at } = message;
        Some((
            target.id,
            *id,
            target.account_id,
            *from_account_id,
            from_device,
            *r#type,
            body,
            digest,
            franking,
            *created_at,
            size(message),
        ))
    }))?;
    sql::many::set_last(targets.values().map(|target| (target.id, target.last_message)))?;
    Ok(())
}

/// Tells the connections of each message's device.
fn stream(targets: &BTreeMap<i64, Device>, messages: Vec<(i64, Message)>) -> Result<()> {
    let mut told = Vec::with_capacity(messages.len());
    for (device, message) in messages {
        let Some(target) = targets.get(&device) else { continue };
        let topic = format!("token:{}", target.token_id);
        let message = streaming::message(&topic, "encrypted_message", &EncryptedMessage::from(message))?;
        if message.payload.len() > WHOLE {
            return Err(Error::invalid("Validation failed: Body is too long"));
        }
        told.push(message);
    }
    streaming::publish(&told)?;
    Ok(())
}

/// `GET /api/v1/crypto/encrypted_messages`
#[route(get, "/api/v1/crypto/encrypted_messages", scopes = ["crypto"])]
fn messages(ctx: &Context, page: Page) -> Result<Output> {
    let device = device::own(ctx)?;
    let before = page.max_id.unwrap_or(i64::MAX);
    let rows: Vec<Message> = match page.min_id {
        Some(after) => {
            let mut rows: Vec<Message> = sql::next(device.id, before, after, page.limit).all()?;
            rows.reverse();
            rows
        }
        None => sql::newest(device.id, before, page.since_id.unwrap_or(0), page.limit).all()?,
    };
    let ids: Vec<i64> = rows.iter().map(|row| row.id.0).collect();
    let shown: Vec<EncryptedMessage> = rows.into_iter().map(EncryptedMessage::from).collect();
    Ok(Output::json(&shown)?.with_cursor(&ids, page.limit))
}

/// The messages to clear.
#[derive(Deserialize)]
struct Clearing {
    up_to_id: Option<String>,
}

/// `POST /api/v1/crypto/encrypted_messages/clear`
#[route(post, "/api/v1/crypto/encrypted_messages/clear", scopes = ["crypto"])]
fn clear(ctx: &Context, Params(clearing): Params<Clearing>) -> Result<Output> {
    let device = device::own(ctx)?;
    let up_to = clearing.up_to_id.and_then(|id| id.parse::<i64>().ok());
    let up_to = up_to.ok_or_else(|| Error::invalid("Validation failed: Up to id is not the id of a message"))?;
    sql::clear(device.id, up_to).exec()?;
    Output::empty()
}
