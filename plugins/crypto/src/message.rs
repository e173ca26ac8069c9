//! Messages, as they are stored and shown, and the token that later proves their content.

use rookery_plugin::prelude::*;
use rookery_plugin::time::iso;

/// What tokens of messages are sealed for.
const PURPOSE: &str = "message_franking";

/// A message that waits for its device.
#[derive(Clone, Debug, Row)]
pub(crate) struct Message {
    pub(crate) id: Id,
    pub(crate) from_account_id: Id,
    pub(crate) from_device: String,
    pub(crate) r#type: i64,
    pub(crate) body: String,
    pub(crate) digest: String,
    pub(crate) franking: String,
    pub(crate) created_at: i64,
}

/// `EncryptedMessage`.
#[derive(Debug, Serialize)]
pub(crate) struct EncryptedMessage {
    id: Id,
    account_id: Id,
    device_id: String,
    r#type: i64,
    body: String,
    digest: String,
    message_franking: String,
    created_at: String,
}

impl From<Message> for EncryptedMessage {
    fn from(message: Message) -> Self {
        Self {
            id: message.id,
            account_id: message.from_account_id,
            device_id: message.from_device,
            r#type: message.r#type,
            body: message.body,
            digest: message.digest,
            message_franking: message.franking,
            created_at: iso(message.created_at),
        }
    }
}

/// The content of a `message_franking`, which only this server can create: sender, recipient, type and time of a
/// message. With the body and the key of the hmac, which both devices have, it proves the message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Franking {
    pub(crate) hmac: String,
    pub(crate) source_account_id: Id,
    pub(crate) target_account_id: Id,
    pub(crate) timestamp: String,
    /// The statement of the sender's server, for a message from another server.
    pub(crate) original_franking: Option<String>,
}

impl Franking {
    /// As a token.
    pub(crate) fn seal(&self) -> Result<String> {
        sealing::seal(PURPOSE, &serde_json::to_string(self)?)
    }

    /// The content of a token.
    ///
    /// # Errors
    /// [`Error::Invalid`] for one that was not sealed here.
    pub(crate) fn open(token: &str) -> Result<Self> {
        let text = sealing::open(PURPOSE, token);
        let text = text.ok_or_else(|| Error::invalid("This is no message_franking of this server"))?;
        Ok(serde_json::from_str(&text)?)
    }
}

/// The arguments of the command `franking`.
#[derive(Deserialize)]
struct FrankingArguments {
    message_franking: String,
}

/// `rookery plugin run crypto franking`
#[command("franking")]
fn franking(_ctx: &Context, asked: FrankingArguments) -> Result<serde_json::Value> {
    let FrankingArguments { message_franking } = asked;
    Ok(serde_json::to_value(Franking::open(&message_franking)?)?)
}
