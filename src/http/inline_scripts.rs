//! The inline scripts of a page, as sources of a content security policy: their SHA-256 hashes.
//!
//! Reads HTML as far as it must: the start tags `script` without `src`, and their content. Text in comments that looks
//! like a script counts as one, which only adds a hash.
//!
//! Spec: <https://www.w3.org/TR/CSP3/#match-element-to-source-list>

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The most scripts of a page: it bounds the size of the header.
const MOST: usize = 64;

/// ` 'sha256-…'` for each inline script of `page`, for at most the first 64.
pub(crate) fn sources(page: &[u8]) -> String {
    let page = with_line_feeds(page);
    let mut sources = String::new();
    let mut rest = page.as_slice();
    for _ in 0..MOST {
        let Some((script, after)) = next(rest) else { break };
        rest = after;
        // Writing to a String cannot fail.
        let _ = write!(sources, " 'sha256-{}'", STANDARD.encode(crypto::digest_sha256(script)));
    }
    sources
}

/// The content of the first inline script, and the text after it.
fn next(mut text: &[u8]) -> Option<(&[u8], &[u8])> {
    loop {
        text = &text[position(text, b"<script")? + b"<script".len()..];
        if !text.first().is_some_and(|byte| byte.is_ascii_whitespace() || b"/>".contains(byte)) {
            continue;
        }
        let (external, content) = attributes(text)?;
        let end = position(content, b"</script")?;
        text = &content[end..];
        if !external {
            return Some((&content[..end], text));
        }
    }
}

/// Reads the attributes of a start tag: whether one is `src`, and the text after the tag. `None` without an end.
fn attributes(mut text: &[u8]) -> Option<(bool, &[u8])> {
    let mut external = false;
    loop {
        let skipped = text.iter().position(|byte| !byte.is_ascii_whitespace() && *byte != b'/')?;
        text = &text[skipped..];
        if text[0] == b'>' {
            return Some((external, &text[1..]));
        }
        // A name may begin with `=`.
        let end = 1 + text[1..].iter().position(|byte| byte.is_ascii_whitespace() || b"=/>".contains(byte))?;
        external |= text[..end].eq_ignore_ascii_case(b"src");
        text = text[end..].trim_ascii_start();
        if let Some(value) = text.strip_prefix(b"=") {
            text = after_value(value.trim_ascii_start())?;
        }
    }
}

/// The text after the value of an attribute.
fn after_value(text: &[u8]) -> Option<&[u8]> {
    match text.first()? {
        quote @ (b'"' | b'\'') => {
            let end = text[1..].iter().position(|byte| byte == quote)?;
            Some(&text[end + 2..])
        }
        _ => Some(&text[text.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'>')?..]),
    }
}

/// Where `word`, in lower case, is in `text`, in any case.
fn position(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len()).position(|window| window.eq_ignore_ascii_case(word))
}

/// With the line breaks that a browser hashes.
fn with_line_feeds(page: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(page.len());
    for (at, byte) in page.iter().enumerate() {
        match byte {
            b'\r' if page.get(at + 1) == Some(&b'\n') => {}
            b'\r' => bytes.push(b'\n'),
            _ => bytes.push(*byte),
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(script: &str) -> String {
        format!(" 'sha256-{}'", STANDARD.encode(crypto::digest_sha256(script.as_bytes())))
    }

    #[test]
    fn inline_scripts_are_hashed_and_others_are_not() {
        let page =
            b"<!doctype html><script src=/a.js></script><SCRIPT type=\"module\" data-x='>'>let a = 1;\r\nb()</SCRIPT>\
            <scripts>no</scripts><script async\nSRC = '/b.js' ></script><script>c()</script ><script/>d</script>";
        let expected = ["let a = 1;\nb()", "c()", "d"].map(source).concat();
        assert_eq!(sources(page), expected);
        // As browsers have it.
        assert_eq!(
            sources(b"<script>alert('Hello, world.');</script>"),
            " 'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
        );
    }

    #[test]
    fn unfinished_page_has_no_script() {
        for page in ["", "<script", "<script>", "<script src", "<script a=\"", "<script =", "<script a=b", "<p>x</p>"] {
            assert_eq!(sources(page.as_bytes()), "", "{page}");
        }
    }
}
