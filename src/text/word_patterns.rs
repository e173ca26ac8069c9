//! Lists of words and regular expressions that are sought in texts, compiled to one automaton.
//!
//! The time of a search grows with the length of the text only. Letters match in both cases.

use regex::{RegexBuilder, RegexSet, RegexSetBuilder};

/// Most patterns of a list.
pub const PATTERNS_MAX: usize = 1_000;
/// Longest pattern, in characters.
pub const PATTERN_MAX: usize = 200;
/// Largest compiled pattern, in bytes.
const COMPILED_MAX: usize = 256 * 1024;
/// Largest compiled list, in bytes.
const LIST_COMPILED_MAX: usize = 16 * 1024 * 1024;

/// A compiled list; the empty list matches nothing.
#[derive(Clone, Debug, Default)]
pub struct WordPatterns(Option<RegexSet>);

impl WordPatterns {
    /// Compiles `patterns`: each a text, or a regular expression between slashes.
    ///
    /// # Errors
    /// A sentence that names the pattern that is too long, invalid, or matches every text.
    pub fn new(patterns: &[String]) -> Result<Self, String> {
        if patterns.is_empty() {
            return Ok(Self::default());
        }
        if patterns.len() > PATTERNS_MAX {
            return Err(format!("has at most {PATTERNS_MAX} patterns"));
        }
        let expressions = patterns.iter().map(|pattern| expression(pattern)).collect::<Result<Vec<_>, _>>()?;
        let set = RegexSetBuilder::new(expressions).case_insensitive(true).size_limit(LIST_COMPILED_MAX).build();
        Ok(Self(Some(set.map_err(|_| "is too large altogether: shorten the regular expressions".to_owned())?)))
    }

    /// True when a pattern occurs in `text`.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        self.0.as_ref().is_some_and(|set| set.is_match(text))
    }
}

/// The regular expression of a pattern.
fn expression(pattern: &str) -> Result<String, String> {
    if pattern.trim().is_empty() || pattern.chars().count() > PATTERN_MAX {
        return Err(format!("{pattern:?} must have 1 to {PATTERN_MAX} characters"));
    }
    let inner = pattern.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    let expression = inner.map_or_else(|| regex::escape(pattern), str::to_owned);
    let compiled = RegexBuilder::new(&expression).case_insensitive(true).size_limit(COMPILED_MAX).build();
    match compiled {
        Ok(compiled) if compiled.is_match("") => Err(format!("{pattern:?} matches every text")),
        Ok(_) => Ok(expression),
        Err(regex::Error::CompiledTooBig(_)) => Err(format!("{pattern:?} is too large: repeat less")),
        Err(_) => Err(format!("{pattern:?} is not a regular expression that can be used here")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(patterns: &[&str]) -> Result<WordPatterns, String> {
        WordPatterns::new(&patterns.iter().map(|&pattern| pattern.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn words_and_expressions_match_in_both_cases() {
        let list = patterns(&["Buy now", "/\\bspam+\\b/", "安い", "a.b"]).expect("a list");
        for text in ["please BUY NOW!", "SPAMMM here", "とても安いです", "xA.Bx"] {
            assert!(list.is_match(text), "{text}");
        }
        for text in ["", "buy  now", "spammer", "axb", "高い"] {
            assert!(!list.is_match(text), "{text}");
        }
        assert!(!WordPatterns::default().is_match("anything"));
    }

    #[test]
    fn unusable_patterns_are_named() {
        for (bad, named) in [
            ("/(/", "\"/(/\""),
            ("/a*/", "every text"),
            ("//", "every text"),
            (" ", "characters"),
            ("/(a{1000}){1000}/", "too large"),
            ("/(a)\\1/", "not a regular expression"),
        ] {
            let error = patterns(&["fine", bad]).expect_err("unusable");
            assert!(error.contains(named), "{bad}: {error}");
        }
        assert!(patterns(&["a".repeat(201).as_str()]).is_err());
        assert!(patterns(&vec!["a"; 1_001]).is_err());
    }
}
