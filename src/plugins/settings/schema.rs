//! The schema of a plugin's settings for each account, with its validator.

use serde_json::Value;

use plugin_package::manifest;

/// The schema of settings with its validator, which is built once: when the plugin is loaded.
#[derive(Debug)]
pub struct SettingsSchema {
    pub(super) schema: Value,
    pub(super) validator: jsonschema::Validator,
}

impl SettingsSchema {
    /// The schema, ready to validate by.
    ///
    /// # Errors
    /// The fault, in words.
    pub fn new(schema: Value) -> Result<Self, String> {
        Ok(Self { validator: manifest::validator(&schema)?, schema })
    }
}
