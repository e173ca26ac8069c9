//! The word lists of the staff, compiled when the settings change.

use std::sync::Arc;

use model::Settings;
use text::WordPatterns;

/// The patterns of the settings `ng_words` and `sensitive_words`, compiled.
#[derive(Clone, Debug, Default)]
pub struct WordLists {
    pub ng: WordPatterns,
    pub sensitive: WordPatterns,
}

impl WordLists {
    /// Compiles the patterns. A list that this version cannot use is left out, with a warning.
    fn of(settings: &Settings) -> Self {
        let compile = |key: &'static str, patterns: &[String]| {
            WordPatterns::new(patterns).unwrap_or_else(|_| {
                tracing::warn!(setting = key, "a stored list of patterns does not fit this version and is ignored");
                WordPatterns::default()
            })
        };
        Self {
            ng: compile("ng_words", &settings.ng_words),
            sensitive: compile("sensitive_words", &settings.sensitive_words),
        }
    }

    /// The patterns of the settings `now`; the known ones while the lists are the same.
    pub(crate) fn reload(known: &Arc<Self>, before: &Settings, now: &Settings) -> Arc<Self> {
        let same = (&before.ng_words, &before.sensitive_words) == (&now.ng_words, &now.sensitive_words);
        if same { Arc::clone(known) } else { Arc::new(Self::of(now)) }
    }
}
