//! The schema of a plugin's settings for each account, with its validator.

use serde_json::Value;

use context::Language;
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

/// The title of a property in `language`, else in English; `None` without a title.
pub(super) fn title(property: &Value, language: Language) -> Option<&str> {
    let translated = property.get("x-titles").and_then(|titles| titles.get(language.code()));
    translated.or_else(|| property.get("title")).and_then(Value::as_str)
}

/// The title of `value`, one of the property's `enum`, in `language`, else in English; without a title the value itself,
/// with spaces for underscores.
pub(super) fn value_title(property: &Value, value: &str, language: Language) -> String {
    let titles = property.get("x-enum-titles").and_then(|titles| titles.get(value));
    let title = titles.and_then(|titles| titles.get(language.code()).or_else(|| titles.get("en")));
    title.and_then(Value::as_str).map_or_else(|| value.replace('_', " "), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn titles_are_in_language_of_page_or_english() {
        let property = json!({
            "title": "Who may wave",
            "x-titles": {"de": "Wer winken darf"},
            "enum": ["all", "followers_only"],
            "x-enum-titles": {"all": {"en": "Everyone", "de": "Alle"}}
        });
        assert_eq!(title(&property, Language::German), Some("Wer winken darf"));
        assert_eq!(title(&property, Language::English), Some("Who may wave"));
        assert_eq!(title(&property, Language::Japanese), Some("Who may wave"));
        assert_eq!(title(&json!({"type": "boolean"}), Language::German), None);

        assert_eq!(value_title(&property, "all", Language::German), "Alle");
        assert_eq!(value_title(&property, "all", Language::English), "Everyone");
        assert_eq!(value_title(&property, "all", Language::Japanese), "Everyone");
        assert_eq!(value_title(&property, "followers_only", Language::German), "followers only");
    }
}
