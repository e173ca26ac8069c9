//! Characters that a terminal interprets instead of displaying: they move the cursor, change colours or reverse the
//! direction of a line, so that a text could imitate or hide another.

use std::borrow::Cow;

/// True for a control character, and for characters that reorder or break a line (Unicode's bidirectional controls, line and
/// paragraph separators, the byte order mark).
#[must_use]
pub fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}'
        )
}

/// `text` with unprintable characters as escapes: `\u{1b}`.
#[must_use]
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unprintable) {
        return Cow::Borrowed(text);
    }
    let escape = |character: char| -> String {
        if is_unprintable(character) { character.escape_default().collect() } else { character.into() }
    };
    Cow::Owned(text.chars().map(escape).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_text_has_visible_escapes() {
        assert_eq!(escaped("\u{1b}[31mred\u{202E}\n"), "\\u{1b}[31mred\\u{202e}\\n");
        assert_eq!(escaped("ノート"), "ノート");
    }
}
