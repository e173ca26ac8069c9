//! The parameters of a collection, and their bounds.

use rookery_plugin::prelude::*;
use serde::Deserializer;

use crate::entity::CollectionRow;

/// Longest name, in characters.
pub(crate) const NAME_MAX: u32 = 40;
/// Longest description, in characters.
pub(crate) const DESCRIPTION_MAX: u32 = 100;
/// Longest hashtag, in characters.
pub(crate) const TAG_MAX: u32 = 100;

/// The parameters of a request that creates or changes a collection. A missing parameter changes nothing; JSON null and an
/// empty text remove a description, language and hashtag.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Sent {
    pub(crate) name: Option<String>,
    #[serde(default, deserialize_with = "given")]
    pub(crate) description: Option<Option<String>>,
    #[serde(default, deserialize_with = "given")]
    pub(crate) language: Option<Option<String>>,
    #[serde(default, deserialize_with = "given")]
    pub(crate) tag_name: Option<Option<String>>,
    pub(crate) sensitive: Option<bool>,
    pub(crate) discoverable: Option<bool>,
    #[serde(default)]
    pub(crate) account_ids: Vec<String>,
}

/// `Some(None)` for JSON null, `None` for a missing member.
fn given<'de, D: Deserializer<'de>>(value: D) -> std::result::Result<Option<Option<String>>, D::Error> {
    Option::deserialize(value).map(Some)
}

impl Sent {
    /// The accounts to list, each once, in the order sent.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a text that is not an id.
    pub(crate) fn accounts(&self) -> Result<Vec<i64>> {
        let mut accounts = Vec::new();
        for text in &self.account_ids {
            let id = text.trim().parse().map_err(|_| Error::invalid("account_ids: must be ids of accounts"))?;
            if !accounts.contains(&id) {
                accounts.push(id);
            }
            crate::items::check_room(accounts.len())?;
        }
        Ok(accounts)
    }
}

/// The columns that a client sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) language: Option<String>,
    pub(crate) tag: Option<String>,
    pub(crate) sensitive: bool,
    pub(crate) discoverable: bool,
}

impl From<&CollectionRow> for Fields {
    fn from(row: &CollectionRow) -> Self {
        Self {
            name: row.name.clone(),
            description: row.description.clone(),
            language: row.language.clone(),
            tag: row.tag.clone(),
            sensitive: row.sensitive,
            discoverable: row.discoverable,
        }
    }
}

impl Fields {
    /// Replaces the fields that the request has.
    ///
    /// # Errors
    /// [`Error::Invalid`], naming the parameter.
    pub(crate) fn with(mut self, sent: Sent) -> Result<Self> {
        if let Some(name) = sent.name {
            self.name = text("Name", &name, NAME_MAX)?;
            if self.name.is_empty() {
                return Err(blank_name());
            }
        }
        if let Some(description) = sent.description {
            self.description = text("Description", &description.unwrap_or_default(), DESCRIPTION_MAX)?;
        }
        if let Some(code) = sent.language {
            self.language = language(&code.unwrap_or_default())?;
        }
        if let Some(name) = sent.tag_name {
            self.tag = hashtag(&name.unwrap_or_default())?;
        }
        self.sensitive = sent.sensitive.unwrap_or(self.sensitive);
        self.discoverable = sent.discoverable.unwrap_or(self.discoverable);
        Ok(self)
    }

    /// The fields whose change listed accounts are notified of.
    pub(crate) fn meaning(&self) -> (&str, &str, Option<&str>, bool) {
        (&self.name, &self.description, self.tag.as_deref(), self.sensitive)
    }
}

pub(crate) fn blank_name() -> Error {
    Error::invalid("Validation failed: Name can't be blank")
}

/// Trims white space.
fn text(what: &str, sent: &str, most: u32) -> Result<String> {
    let text = sent.trim();
    if text.chars().count() > most as usize {
        return Err(Error::invalid(format!("Validation failed: {what} is too long (maximum is {most} characters)")));
    }
    Ok(text.to_owned())
}

/// A code such as `en`, `nan` or `zh-TW`. Only the form is checked: the contract gives plugins no list of languages.
fn language(sent: &str) -> Result<Option<String>> {
    let code = sent.trim();
    if code.is_empty() {
        return Ok(None);
    }
    let (main, region) = code.split_once('-').unwrap_or((code, "XX"));
    let is_code = matches!(main.len(), 2 | 3) && main.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_region = matches!(region.len(), 2..=4) && region.bytes().all(|byte| byte.is_ascii_alphabetic());
    if is_code && is_region {
        Ok(Some(code.to_owned()))
    } else {
        Err(Error::invalid("Validation failed: Language must be the code of a language, such as en"))
    }
}

/// A hashtag as the server stores it.
fn hashtag(sent: &str) -> Result<Option<String>> {
    let name = sent.trim();
    if name.is_empty() {
        return Ok(None);
    }
    let invalid = || Error::invalid("Validation failed: Tag name must be a hashtag");
    if name.chars().count() > TAG_MAX as usize {
        return Err(invalid());
    }
    let normalised = core::normalise("hashtag", &[name.to_owned()])?.into_iter().flatten().next();
    normalised.map(Some).ok_or_else(invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Sent {
        Sent { name: Some(name.to_owned()), ..Sent::default() }
    }

    #[test]
    fn texts_are_trimmed_and_bounded_by_characters() {
        assert_eq!(Fields::default().with(named(" Rooks ")).unwrap().name, "Rooks");
        assert!(Fields::default().with(named(&"猫".repeat(40))).is_ok());
        assert!(Fields::default().with(named(&"猫".repeat(41))).is_err());
        assert_eq!(Fields::default().with(named(" \t")), Err(blank_name()));
        let described = |text: String| Sent { description: Some(Some(text)), ..Sent::default() };
        assert!(Fields::default().with(described("x".repeat(100))).is_ok());
        assert!(Fields::default().with(described("x".repeat(101))).is_err());
    }

    #[test]
    fn language_has_the_form_of_a_code() {
        for code in ["en", "nan", "zh-TW", " de "] {
            assert_eq!(language(code), Ok(Some(code.trim().to_owned())), "{code}");
        }
        assert_eq!(language(" "), Ok(None));
        for wrong in ["english", "e", "EN", "en-", "en_US", "-TW", "zh-T", "zh-12", "<b>"] {
            assert!(language(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn null_and_empty_texts_remove_optional_values() {
        let full = Fields {
            name: "Rooks".into(),
            description: "All of them".into(),
            language: Some("en".into()),
            tag: Some("rooks".into()),
            sensitive: true,
            discoverable: true,
        };
        let sent = |json: serde_json::Value| serde_json::from_value::<Sent>(json).unwrap();
        assert_eq!(full.clone().with(sent(json!({}))), Ok(full.clone()));
        for nothing in [json!(null), json!("")] {
            let sent = sent(json!({ "description": nothing, "language": nothing, "tag_name": nothing }));
            let left = full.clone().with(sent).unwrap();
            assert_eq!((left.description.as_str(), &left.language, &left.tag), ("", &None, &None));
            assert_eq!((left.name.as_str(), left.sensitive, left.discoverable), ("Rooks", true, true));
        }
    }
}
