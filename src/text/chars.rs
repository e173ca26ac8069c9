//! Character classes for word boundaries.
//!
//! Close to the `\w` of Unicode regular expressions ([UTS #18](https://unicode.org/reports/tr18/#word)):
//! letters, marks, decimal digits and connector punctuation.

use unicode_normalization::char::is_combining_mark;

/// A letter, mark, digit or connector (`_`). A mention or hashtag must not directly follow one.
pub(super) fn is_word(c: char) -> bool {
    is_alphanumeric(c) || is_combining_mark(c) || is_connector(c)
}

/// A letter or a decimal digit: `char::is_alphanumeric` without fractions, superscripts and numbers in circles.
pub(super) fn is_alphanumeric(c: char) -> bool {
    c.is_alphanumeric() && !is_other_number(c)
}

/// Connector punctuation (general category Pc).
fn is_connector(c: char) -> bool {
    matches!(
        c,
        '_' | '\u{203F}' | '\u{2040}' | '\u{2054}' | '\u{FE33}' | '\u{FE34}' | '\u{FE4D}'..='\u{FE4F}' | '\u{FF3F}'
    )
}

/// The commonly typed characters of general category No, which do not count as digits of a word.
fn is_other_number(c: char) -> bool {
    matches!(c,
        '²' | '³' | '¹' | '¼'..='¾'
        | '\u{2070}'..='\u{2089}' | '\u{2150}'..='\u{215F}' | '\u{2189}'
        | '\u{2460}'..='\u{249B}' | '\u{24EA}'..='\u{24FF}' | '\u{2776}'..='\u{2793}'
        | '\u{3192}'..='\u{3195}' | '\u{3220}'..='\u{3229}' | '\u{3248}'..='\u{324F}'
        | '\u{3251}'..='\u{325F}' | '\u{3280}'..='\u{3289}' | '\u{32B1}'..='\u{32BF}'
    ) && !c.is_alphabetic()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_letters_marks_digits_and_connectors() {
        assert!("aÉ漢か5５_＿\u{301}ั".chars().all(is_word));
        assert!(!" -.@#/²½①・·\u{200C}🎉".chars().any(is_word));
    }
}
