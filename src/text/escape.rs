//! HTML escaping.

/// `text` with `&`, `<`, `>` and both quotes as entities, safe in an element or a quoted attribute.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    push_escaped(&mut out, text);
    out
}

/// Appends [`escape`]d `text` to `out`.
pub(super) fn push_escaped(out: &mut String, text: &str) {
    push_replacing(out, text, |c| match c {
        '"' => Some("&quot;"),
        '\'' => Some("&#39;"),
        _ => markup(c),
    });
}

/// Appends `text` to `out`, escaped for use between tags only: quotes stay as they are.
pub(super) fn push_escaped_text(out: &mut String, text: &str) {
    push_replacing(out, text, markup);
}

fn markup(c: char) -> Option<&'static str> {
    match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        _ => None,
    }
}

fn push_replacing(out: &mut String, text: &str, entity: impl Fn(char) -> Option<&'static str>) {
    for c in text.chars() {
        match entity(c) {
            Some(replacement) => out.push_str(replacement),
            None => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_quotes_become_entities() {
        assert_eq!(
            escape(r#"<a href="x">it's & more</a>"#),
            "&lt;a href=&quot;x&quot;&gt;it&#39;s &amp; more&lt;/a&gt;"
        );
        assert_eq!(escape(""), "");
    }

    #[test]
    fn text_keeps_its_quotes() {
        let mut out = String::new();
        push_escaped_text(&mut out, "it's \"1 < 2\"");
        assert_eq!(out, "it's \"1 &lt; 2\"");
    }
}
