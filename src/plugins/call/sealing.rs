//! Texts that a plugin alone can read again (contract: interface `sealing`): encrypted and authenticated with a key that is
//! derived from the server's secret key and the plugin's name.
//!
//! Nothing is stored: the plugin that has the token can decrypt the text.

use rookery_plugin_host::imports::types::Failure;

use super::Call;
use crate::failure::{at_most, failure};
use crypto::Secret;

/// Longest text, in bytes.
const TEXT: usize = 64 * 1024;
/// Longest purpose, in bytes.
const PURPOSE: usize = 256;

impl Call {
    pub(super) fn seal_text(&self, purpose: &str, text: &str) -> Result<String, Failure> {
        at_most(text.len(), TEXT, "bytes of text")?;
        at_most(purpose.len(), PURPOSE, "bytes of purpose")?;
        let sealed = self.cx.keys.seal(&self.key(), purpose, &Secret::from(text.to_owned()));
        sealed.map_err(|error| {
            tracing::error!(plugin = self.active.name(), %error, "could not seal a text of a plugin");
            failure(500, "sealing.failed", "The text could not be sealed")
        })
    }

    pub(super) fn open_token(&self, purpose: &str, token: &str) -> Option<String> {
        self.cx.keys.open(&self.key(), purpose, token).map(|text| text.expose().to_owned())
    }

    /// The context of the key derivation: names of plugins have no space.
    fn key(&self) -> String {
        format!("sealed by the plugin {}", self.active.name())
    }
}
