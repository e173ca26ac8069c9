//! The code of a source file, without comments and literals.
//!
//! Used by the rules of `tidy`, by the imports between files and by `make layers`, so it names nothing but the standard
//! library.

/// `text` with comments and the insides of literals replaced by spaces.
pub fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (kept, skipped) = match first {
            '/' if rest.starts_with("//") => (0, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => (0, rest.find("*/").map_or(rest.len(), |end| end + 2)),
            'r' if rest.starts_with("r#\"") => (0, rest.find("\"#").map_or(rest.len(), |end| end + 2)),
            '"' => (0, string_end(rest)),
            '\'' => (0, character_end(rest)),
            other if other.is_alphanumeric() || other == '_' => {
                (rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len()), 0)
            }
            other => (other.len_utf8(), 0),
        };
        let (kept, skipped) = (&rest[..kept], &rest[kept..kept + skipped]);
        code.push_str(kept);
        code.extend(skipped.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = &rest[kept.len() + skipped.len()..];
    }
    code
}

fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// A character literal's length; a lifetime is one character of code.
fn character_end(text: &str) -> usize {
    let mut inner = text[1..].chars();
    match (inner.next(), inner.next()) {
        (Some('\\'), _) => text[3..].find('\'').map_or(text.len(), |end| end + 4),
        (Some(c), Some('\'')) => 2 + c.len_utf8(),
        _ => 1,
    }
}
