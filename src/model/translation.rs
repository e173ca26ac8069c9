//! Translations of statuses, and the languages of a translation service.

use std::collections::BTreeMap;

use super::{MediaId, PollId};

/// A translated status.
#[derive(Clone, Debug)]
pub struct Translation {
    pub detected_source_language: Option<String>,
    pub language: String,
    pub provider: &'static str,
    /// HTML, sanitised.
    pub content: String,
    pub spoiler_text: String,
    pub poll: Option<(PollId, Vec<String>)>,
    pub media: Vec<(MediaId, Option<String>)>,
}

impl Translation {
    /// The approximate size in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        let options = self.poll.iter().flat_map(|(_, options)| options);
        let descriptions = self.media.iter().filter_map(|(_, description)| description.as_ref());
        let texts = options.chain(descriptions).map(|text| text.len() + size_of::<String>()).sum::<usize>();
        size_of::<Self>() + self.content.len() + self.spoiler_text.len() + texts
    }
}

/// The code of a language that the service detects.
pub const UNDETERMINED: &str = "und";

/// The languages of a service: the target languages for each source language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Languages(pub BTreeMap<String, Vec<String>>);

impl Languages {
    /// The codes of the service for a status's language (`None`: detected by the service) and the target language;
    /// `None` when it does not translate between them, or they are the same.
    #[must_use]
    pub fn pair(&self, from: Option<&str>, to: &str) -> Option<(Option<String>, String)> {
        let from = from.filter(|code| *code != UNDETERMINED);
        let source = match from {
            Some(code) => known(self.0.keys(), code)?,
            None => UNDETERMINED,
        };
        let target = known(self.0.get(source)?.iter(), to)?;
        (source != target).then(|| (from.map(|_| source.to_owned()), target.to_owned()))
    }
}

/// `code` if it is in `codes`, otherwise its language without a region.
fn known<'a>(mut codes: impl Iterator<Item = &'a String> + Clone, code: &str) -> Option<&'a str> {
    let language = code.split(['-', '_']).next().unwrap_or(code);
    let exact = codes.clone().find(|known| known.eq_ignore_ascii_case(code));
    exact.or_else(|| codes.find(|known| known.eq_ignore_ascii_case(language))).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pair_is_one_that_the_service_knows() {
        let targets = |codes: &[&str]| codes.iter().map(|code| (*code).to_owned()).collect::<Vec<_>>();
        let languages = Languages(BTreeMap::from([
            ("de".to_owned(), targets(&["en", "pt-BR"])),
            ("en".to_owned(), targets(&["de"])),
            (UNDETERMINED.to_owned(), targets(&["de", "en"])),
        ]));
        let pair = |from, to| languages.pair(from, to).map(|(from, to)| (from.unwrap_or_default(), to));
        let some = |from: &str, to: &str| Some((from.to_owned(), to.to_owned()));
        assert_eq!(pair(Some("de"), "en"), some("de", "en"));
        assert_eq!(pair(Some("de-AT"), "en-GB"), some("de", "en"));
        assert_eq!(pair(Some("de"), "pt-br"), some("de", "pt-BR"));
        assert_eq!(pair(None, "de"), some("", "de"));
        assert_eq!(pair(Some("und"), "de"), some("", "de"));
        for (from, to) in [(Some("en"), "en"), (Some("de"), "fr"), (Some("fr"), "de"), (None, "")] {
            assert_eq!(pair(from, to), None, "{from:?} to {to}");
        }
    }
}
