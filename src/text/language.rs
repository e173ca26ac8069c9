//! The languages a status can be marked with, their names, and their lookup from language tags and `Accept-Language`
//! headers.
//!
//! Reached from `GET /api/v1/instance/languages`, from publishing, and from preferences. Detects no language from text.
//!
//! Spec: <https://docs.joinmastodon.org/methods/instance/#languages>,
//! <https://www.rfc-editor.org/rfc/rfc4647#section-3.4> (lookup)

mod names;
mod translated;

use std::cmp::Reverse;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

pub use names::LANGUAGES;

/// A language and its name in English.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Language {
    /// As stored with a status, with this case: `en`, `ckb`, `zh-TW`.
    pub code: &'static str,
    /// In English, for language pickers.
    pub name: &'static str,
}

impl Language {
    /// The name in the language `locale`, a two-letter code: German (`de`) or Japanese (`ja`), English for all others.
    #[must_use]
    pub fn name_in(&self, locale: &str) -> &'static str {
        let names = translated::NAMES.iter().find(|(code, ..)| *code == self.code);
        match (locale, names) {
            ("de", Some(&(_, german, _))) => german,
            ("ja", Some(&(_, _, japanese))) => japanese,
            _ => self.name,
        }
    }
}

/// The maximum number of language ranges read from an `Accept-Language` header; further ones are ignored.
const MAX_RANGES: usize = 32;

/// The code and the [name](Language::name_in) of every language, as a page in the language `locale` lists them.
///
/// German and Japanese names are in their own order, letters with and without diacritics together; English names are in
/// the order of [`LANGUAGES`].
#[must_use]
pub fn listed_in(locale: &str) -> Vec<[&'static str; 2]> {
    let mut listed: Vec<_> = LANGUAGES.iter().map(|language| [language.code, language.name_in(locale)]).collect();
    if matches!(locale, "de" | "ja") {
        listed.sort_by_cached_key(|[_, name]| sort_key(name));
    }
    listed
}

/// Lower case without diacritics.
fn sort_key(name: &str) -> String {
    name.nfd().filter(|letter| !is_combining_mark(*letter)).flat_map(char::to_lowercase).collect()
}

/// The code of the known language for `tag`.
///
/// Case-insensitive, and `_` is accepted for `-`. A tag that is not known as a whole is retried
/// without its last subtag, so `en-US` gives `en` and `zh-Hant-TW` gives `zh`. `None` when no prefix is known.
#[must_use]
pub fn resolve(tag: &str) -> Option<&'static str> {
    let tag = tag.trim().replace('_', "-");
    let mut rest = Some(tag.as_str());
    while let Some(tag) = rest {
        if let Some(language) = LANGUAGES.iter().find(|language| language.code.eq_ignore_ascii_case(tag)) {
            return Some(language.code);
        }
        rest = tag.rsplit_once('-').map(|(shorter, _)| shorter);
    }
    None
}

/// The code of the known language that an `Accept-Language` header prefers.
///
/// Highest quality first, in header order when equal; `*` and ranges with `q=0` are skipped.
#[must_use]
pub fn from_accept_language(header: &str) -> Option<&'static str> {
    accepted(header).find_map(resolve)
}

/// The tags of an `Accept-Language` header, in the order of [`from_accept_language`], known or not.
pub fn accepted(header: &str) -> impl Iterator<Item = &str> {
    let mut ranges: Vec<(u16, &str)> = header.split(',').take(MAX_RANGES).filter_map(range).collect();
    ranges.sort_by_key(|(quality, _)| Reverse(*quality));
    ranges.into_iter().map(|(_, tag)| tag)
}

/// The quality in thousandths and the tag of one range of the header.
fn range(text: &str) -> Option<(u16, &str)> {
    let mut parts = text.split(';').map(str::trim);
    let tag = parts.next()?;
    let quality = match parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q="))) {
        Some(quality) => thousandths(quality)?,
        None => 1000,
    };
    (quality > 0 && !tag.is_empty()).then_some((quality, tag))
}

fn thousandths(quality: &str) -> Option<u16> {
    let quality: f32 = quality.trim().parse().ok()?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 1000")]
    (0.0..=1.0).contains(&quality).then_some((quality * 1000.0).round() as u16)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn codes_are_unique_and_named() {
        let codes: HashSet<_> = LANGUAGES.iter().map(|language| language.code.to_ascii_lowercase()).collect();
        assert_eq!(codes.len(), LANGUAGES.len());
        assert!(LANGUAGES.iter().all(|language| !language.name.is_empty()));
        for code in ["en", "ja", "ast", "ms-Arab", "zh-CN", "zh-HK", "zh-TW", "zh-YUE", "zgh"] {
            assert_eq!(resolve(code), Some(code));
        }
    }

    #[test]
    fn every_language_has_translated_names_in_same_order() {
        assert!(LANGUAGES.iter().map(|language| language.code).eq(translated::NAMES.iter().map(|(code, ..)| *code)));
        assert!(translated::NAMES.iter().all(|(_, german, japanese)| !german.is_empty() && !japanese.is_empty()));
        for locale in ["en", "de", "ja"] {
            let names: HashSet<_> = LANGUAGES.iter().map(|language| language.name_in(locale)).collect();
            assert_eq!(names.len(), LANGUAGES.len(), "two languages have one name in {locale}");
        }
    }

    #[test]
    fn name_is_in_language_of_page_or_english() {
        let name = |code: &str, locale: &str| {
            LANGUAGES.iter().find(|language| language.code == code).map(|language| language.name_in(locale))
        };
        assert_eq!(name("nl", "de"), Some("Niederländisch"));
        assert_eq!(name("de", "ja"), Some("ドイツ語"));
        assert_eq!((name("nl", "en"), name("nl", "fr")), (Some("Dutch"), Some("Dutch")));
    }

    #[test]
    fn list_is_sorted_by_translated_names() {
        let at = |locale: &str, code: &str| listed_in(locale).iter().position(|[other, _]| *other == code);
        assert!(at("de", "da") < at("de", "de"), "Dänisch, Deutsch");
        assert!(at("de", "sa") < at("de", "gd"), "Sanskrit, Schottisch-Gälisch");
        assert!(at("ja", "en") > at("ja", "aa"), "アファル語, 英語");
        assert_eq!(listed_in("en")[0], ["aa", "Afar"]);
        assert_eq!((at("en", "zgh"), listed_in("ja").len()), (Some(LANGUAGES.len() - 1), LANGUAGES.len()));
    }

    #[test]
    fn every_code_resolves_to_itself_whatever_its_case() {
        for language in LANGUAGES {
            assert_eq!(resolve(&language.code.to_uppercase()), Some(language.code));
        }
    }

    #[test]
    fn unknown_region_is_left_out() {
        assert_eq!(resolve("en-US"), Some("en"));
        assert_eq!(resolve("pt_BR"), Some("pt"));
        assert_eq!(resolve("zh-Hant-TW"), Some("zh"));
        assert_eq!(resolve("zh-tw"), Some("zh-TW"));
    }

    #[test]
    fn unknown_language_is_none() {
        for tag in ["", "-", "xx", "english", "*", "e", "-en"] {
            assert_eq!(resolve(tag), None, "{tag}");
        }
    }

    #[test]
    fn browser_gets_preferred_known_language() {
        assert_eq!(from_accept_language("ja"), Some("ja"));
        assert_eq!(from_accept_language("en;q=0.5, de-AT;q=0.9, *;q=0.1"), Some("de"));
        assert_eq!(from_accept_language("xx, fr;q=0.2, en;q=0.2"), Some("fr"));
        assert_eq!(from_accept_language("de;q=0, en;q=0.001"), Some("en"));
    }

    #[test]
    fn malformed_header_prefers_nothing() {
        for header in ["", "*", ",;=,", "de;q=x", "de;q=NaN", "de;q=2", "q=1"] {
            assert_eq!(from_accept_language(header), None, "{header}");
        }
    }
}
