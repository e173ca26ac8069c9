//! Words that staff does not allow, and words that make a status sensitive: the settings `ng_words` and
//! `sensitive_words`.
//!
//! Reached when a status of this server is published or edited, when a profile is changed, and when a status of another
//! server arrives. Nobody learns which pattern matched.

use context::Cx;
use context::error::{Error, Result};

/// Checks that none of `texts` contains a word that is not allowed.
///
/// # Errors
/// [`Error::Invalid`], without the word.
pub(crate) fn check<'a>(cx: &Cx, texts: impl IntoIterator<Item = &'a str>) -> Result<()> {
    if is_refused(cx, texts) {
        return Err(Error::invalid("Validation failed: This text is not allowed on this server"));
    }
    Ok(())
}

/// True when one of `texts` contains a word that is not allowed.
pub(crate) fn is_refused<'a>(cx: &Cx, texts: impl IntoIterator<Item = &'a str>) -> bool {
    let words = cx.words();
    texts.into_iter().any(|text| words.ng.is_match(text))
}

/// Applies the word lists of the staff to a status with these texts of this server or another. `Some` when it becomes sensitive:
/// the content warning for one that has none, which may be blank.
///
/// # Errors
/// As [`check`].
pub(crate) fn moderate(cx: &Cx, texts: &[&str]) -> Result<Option<String>> {
    check(cx, texts.iter().copied())?;
    let words = cx.words();
    let sensitive = texts.iter().any(|text| words.sensitive.is_match(text));
    Ok(sensitive.then(|| cx.settings().sensitive_words_warning.clone()))
}
