//! Decoding of HTML pages: detects the character encoding of a page, and decodes it.
//!
//! Reached from code that fetches pages of other sites. Accepts any bytes: undecodable ones become U+FFFD.
//!
//! Spec: <https://html.spec.whatwg.org/multipage/parsing.html#determining-the-character-encoding>

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::tokens::{Token, tokens};

/// How much of a page is searched for a declaration, in bytes. The standard says 1024; some sites begin with more.
const PRESCAN: usize = 4096;

/// The text of an HTML page that was sent as `content_type`. The encoding is determined in this order: byte order
/// mark, header, declaration in the page, valid UTF-8.
#[must_use]
pub fn decode(bytes: &[u8], content_type: &str) -> String {
    let declared = labelled(content_type).or_else(|| in_page(&bytes[..bytes.len().min(PRESCAN)]));
    let (text, ..) = declared.unwrap_or_else(|| guess(bytes)).decode(bytes);
    text.into_owned()
}

/// The encoding in the `charset=` of a content type.
fn labelled(content_type: &str) -> Option<&'static Encoding> {
    let lower = content_type.to_ascii_lowercase();
    let (_, rest) = lower.split_once("charset")?;
    let label = rest.trim_start().strip_prefix('=')?.trim_start();
    let label = label.split(';').next().unwrap_or_default().trim_matches(['"', '\'', ' ', '\t']);
    Encoding::for_label(label.as_bytes())
}

/// The encoding in a `<meta>`. UTF-16 is replaced by UTF-8, as in browsers, since the declaration could not have been
/// read in UTF-16.
fn in_page(head: &[u8]) -> Option<&'static Encoding> {
    let found = tokens(&String::from_utf8_lossy(head)).find_map(|token| match token {
        Token::Start(tag) if tag.name == "meta" => match tag.attribute("charset") {
            Some(label) => Encoding::for_label(label.as_bytes()),
            None => {
                let typed = tag.attribute("http-equiv").is_some_and(|name| name.eq_ignore_ascii_case("content-type"));
                tag.attribute("content").filter(|_| typed).and_then(|value| labelled(&value))
            }
        },
        Token::Start(_) | Token::End(_) | Token::Text(_) | Token::Raw(..) => None,
    });
    found.map(|encoding| if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding })
}

/// UTF-8, unless the bytes are not valid UTF-8; a truncated character at the end is ignored.
fn guess(bytes: &[u8]) -> &'static Encoding {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_some() => WINDOWS_1252,
        Ok(_) | Err(_) => UTF_8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_then_page_then_bytes_decide() {
        let sjis = b"<meta charset=utf-8>\x83J\x83\x89\x83X";
        assert!(decode(sjis, "text/html; charset=Shift_JIS").ends_with("カラス"));
        assert!(decode(b"<meta charset='euc-jp'>\xa5\xab", "text/html").ends_with('カ'));
        let equiv = b"<meta http-equiv=Content-Type content='text/html; charset=windows-1251'>\xe3";
        assert!(decode(equiv, "").ends_with('г'));
        assert_eq!(decode("カ".as_bytes(), "text/html; charset=\"no such\""), "カ");
        assert_eq!(decode(b"\xef\xbb\xbfa", "text/html; charset=iso-8859-1"), "a", "a byte order mark is stronger");
        assert_eq!(decode(b"caf\xe9 x", ""), "café x");
        assert!(decode(&"カラス".as_bytes()[..8], "").starts_with("カラ"));
        assert_eq!(decode(b"<meta charset=utf-16>a", ""), "<meta charset=utf-16>a");
    }
}
