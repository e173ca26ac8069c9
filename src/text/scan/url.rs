//! Finds URLs with a scheme.
//!
//! Uses no list of top-level domains: a host needs a dot (or is `localhost`), and its last label ends where
//! Latin letters turn into another script, so that in `https://example.comを見て` only the URL is linked.

use crate::chars::{is_alphanumeric, is_word};

/// Schemes after whose `//` the host is not validated; `http` and `https` URLs are checked more strictly.
const OTHER_SCHEMES: [&str; 7] = ["dat://", "dweb://", "ipfs://", "ipns://", "ssb://", "gopher://", "gemini://"];

/// The maximum length of a link, in bytes; a longer one stays plain text.
pub(super) const MAX_LENGTH: usize = 4096;

/// The maximum nesting of brackets in a link, which ends before a deeper one. Bounds how often text is rescanned.
const MAX_BRACKETS: usize = 8;

/// The length in bytes of the link at the start of `rest`, which begins with an ASCII letter.
///
/// It may exceed [`MAX_LENGTH`], which the caller checks.
pub(super) fn prefix(rest: &str, before: Option<char>) -> Option<usize> {
    if before.is_some_and(|c| {
        c.is_ascii_alphanumeric() || matches!(c, '@' | '＠' | '$' | '#' | '＃' | '\u{202A}'..='\u{202E}')
    }) {
        return None;
    }
    let starts = |scheme: &&str| rest.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    if let Some(scheme) = ["http://", "https://"].iter().find(|s| starts(s)) {
        Some(scheme.len() + web(&rest[scheme.len()..])?)
    } else if let Some(scheme) = OTHER_SCHEMES.iter().find(|s| starts(s)) {
        let after = &rest[scheme.len()..];
        after.starts_with(is_alphanumeric).then(|| scheme.len() + tail(after))
    } else if starts(&"magnet:?") {
        let len = tail(&rest["magnet:?".len()..]);
        (len > 0).then_some("magnet:?".len() + len)
    } else if starts(&"xmpp:") {
        Some("xmpp:".len() + address(&rest["xmpp:".len()..])?)
    } else {
        None
    }
}

/// The length of host, port, path, query and fragment of a web URL.
fn web(text: &str) -> Option<usize> {
    let mut len = host(text)?;
    len += port(&text[len..]);
    let after = &text[len..];
    if after.starts_with('@') {
        return None;
    }
    if after.starts_with(['/', '?', '#']) {
        len += tail(after);
    }
    Some(len)
}

fn host(text: &str) -> Option<usize> {
    let run = &text[..text.find(|c| !is_word(c) && !matches!(c, '-' | '.')).unwrap_or(text.len())];
    let run = run.find("..").map_or(run, |end| &run[..end]).trim_end_matches('.');
    let Some((labels, last)) = run.rsplit_once('.') else {
        return Some(run.len()).filter(|_| run.eq_ignore_ascii_case("localhost"));
    };
    let last_len = if is_ipv4(run) { last.len() } else { top_level(last)? };
    let starts_well = labels.split('.').all(|label| label.starts_with(is_alphanumeric) || label.starts_with('_'));
    starts_well.then_some(labels.len() + 1 + last_len)
}

fn is_ipv4(host: &str) -> bool {
    host.parse::<std::net::Ipv4Addr>().is_ok()
}

/// The length of the start of `label` that can be a top-level domain: at least two characters, all ASCII or none.
fn top_level(label: &str) -> Option<usize> {
    let ascii = label.starts_with(|c: char| c.is_ascii_alphabetic());
    let punycode = label.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("xn--"));
    let part = |c: char| {
        if ascii { c.is_ascii_alphanumeric() || (punycode && c == '-') } else { !c.is_ascii() && is_word(c) }
    };
    let top = &label[..label.find(|c| !part(c)).unwrap_or(label.len())];
    (top.chars().nth(1).is_some()).then_some(top.len())
}

fn port(text: &str) -> usize {
    let digits = text.strip_prefix(':').map_or(0, |after| after.bytes().take(6).take_while(u8::is_ascii_digit).count());
    if (1..=5).contains(&digits) { 1 + digits } else { 0 }
}

/// The length of an XMPP address: `node@domain`, of which both parts are required, and the rest of the link.
fn address(text: &str) -> Option<usize> {
    let node = text.find(|c| ends_link(c) || matches!(c, '@' | ':' | '/')).filter(|len| *len > 0)?;
    let domain = text[node..].strip_prefix('@')?;
    domain.starts_with(is_alphanumeric).then(|| node + 1 + tail(domain))
}

/// The length of the start of `text` that belongs to the link: up to white space or a quotation mark,
/// without unmatched brackets and without trailing punctuation.
fn tail(text: &str) -> usize {
    let mut open = Vec::with_capacity(MAX_BRACKETS);
    let mut end = text.len();
    for (at, c) in text.char_indices() {
        let belongs = match c {
            '(' | '[' => {
                open.push((at, c));
                open.len() <= MAX_BRACKETS
            }
            ')' => open.pop_if(|(_, partner)| *partner == '(').is_some(),
            ']' => open.pop_if(|(_, partner)| *partner == '[').is_some(),
            _ => !ends_link(c),
        };
        if !belongs {
            end = at;
            break;
        }
    }
    let end = open.first().map_or(end, |(at, _)| *at);
    text[..end].trim_end_matches(is_trailing).len()
}

fn ends_link(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '<' | '>' | '"' | '“' | '”' | '«' | '»' | '\u{FEFF}' | '\u{200B}')
        || matches!(c, '、' | '。' | '，' | '！' | '？' | '（' | '）' | '〈'..='】' | '〔' | '〕')
        || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

fn is_trailing(c: char) -> bool {
    matches!(
        c,
        '.' | ',' | ':' | ';' | '!' | '?' | '\'' | '*' | '~' | '|' | '`' | '$' | '&' | '@' | '‘' | '’' | '…' | '‥'
    )
}

#[cfg(test)]
mod tests {
    use crate::scan;

    fn urls(text: &str) -> Vec<&str> {
        scan(text).urls().map(|range| &text[range]).collect()
    }

    #[test]
    fn address_alone_is_wholly_a_link() {
        for url in [
            "https://example.com",
            "HTTP://Example.COM/",
            "https://example.com:3000/a?b=c&d[]=e#f",
            "https://example.com?q=",
            "https://en.wikipedia.org/wiki/Rust_(programming_language)",
            "https://例え.テスト/日本語",
            "https://münchen.de/straße",
            "https://xn--r8jz45g.xn--zckzah/",
            "http://localhost:3000/about",
            "http://127.0.0.1:8080/x",
            "https://example.com/@alice/1#b",
            "https://my_site.example.com/a_b-c~d/",
            "gemini://example.com/x",
            "ipfs://bafybeigdyrzt5sfp7",
            "magnet:?xt=urn:btih:abc&dn=x",
            "xmpp:alice@example.com?message",
        ] {
            assert_eq!(urls(url), [url]);
            assert_eq!(urls(&format!("見て({url}).")), [url]);
            assert_eq!(urls(&format!("「{url}」, {url}!")), [url, url]);
        }
    }

    #[test]
    fn link_ends_before_trailing_punctuation() {
        for (text, url) in [
            ("https://example.com.", "https://example.com"),
            ("https://example.com...", "https://example.com"),
            ("https://example.com/a?!", "https://example.com/a"),
            ("https://example.com/a's'", "https://example.com/a's"),
            ("https://example.com/a)b", "https://example.com/a"),
            ("https://example.com/a(b c", "https://example.com/a"),
            ("https://example.com/a_(b)_(c", "https://example.com/a_(b)_"),
            ("[https://example.com/a](x)", "https://example.com/a"),
            ("https://example.comを見て", "https://example.com"),
            ("https://例え.jpです", "https://例え.jp"),
            ("https://example.com/a。次", "https://example.com/a"),
            ("<https://example.com/a>", "https://example.com/a"),
            ("\"https://example.com/a\"", "https://example.com/a"),
            ("https://example.com:x", "https://example.com"),
            ("https://example.com:123456", "https://example.com"),
        ] {
            assert_eq!(urls(text), [url], "{text}");
        }
    }

    #[test]
    fn malformed_address_is_no_link() {
        for text in [
            "example.com",
            "http://",
            "https://a",
            "https://.com",
            "https://a.b",
            "https://example.com@evil.example",
            "javascript:alert(1)",
            "mailto:a@example.com",
            "xhttps://example.com",
            "#https://example.com",
            "ftp://example.com",
            "https://-",
            "magnet:",
            "xmpp:alice",
            "gopher:// x",
            "https:///a",
        ] {
            assert_eq!(urls(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn link_beyond_limit_stays_text() {
        assert_eq!(urls(&format!("https://example.com/{}", "a".repeat(2000))).len(), 1);
        assert_eq!(urls(&format!("https://example.com/{}", "a".repeat(5000))).len(), 0);
    }
}
