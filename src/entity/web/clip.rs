//! Texts that are cut to a length.

/// Truncates `text` to `max` characters, at a word boundary where possible.
#[must_use]
pub fn clip(text: &str, max: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(max) else { return text.to_owned() };
    let cut = &text[..end];
    let words = cut.rsplit_once(char::is_whitespace).map_or(cut, |(words, _)| words);
    format!("{}…", words.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_is_cut_between_words() {
        assert_eq!(clip("short", 10), "short");
        assert_eq!(clip("one two three", 9), "one two…");
        assert_eq!(clip("öööööö", 3), "ööö…");
    }
}
