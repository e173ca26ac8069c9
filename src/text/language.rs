//! The languages a status can be marked with, and their lookup from language tags and `Accept-Language` headers.
//!
//! Reached from `GET /api/v1/instance/languages`, from publishing, and from preferences. Detects no language from text.
//!
//! Spec: <https://docs.joinmastodon.org/methods/instance/#languages>,
//! <https://www.rfc-editor.org/rfc/rfc4647#section-3.4> (lookup)

mod names;

use std::cmp::Reverse;

pub use names::LANGUAGES;

/// A language and its name in English.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Language {
    /// As stored with a status, with this case: `en`, `ckb`, `zh-TW`.
    pub code: &'static str,
    /// In English, for language pickers.
    pub name: &'static str,
}

/// The maximum number of language ranges read from an `Accept-Language` header; further ones are ignored.
const MAX_RANGES: usize = 32;

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
