//! Property tests: for any input nothing panics, and the HTML is well-formed, safe and faithful to the text.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

/// Text that resembles statuses, with many edge cases for scanners.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z]{1,4}",
        "[ \n@#＃:/.()<>&\"'_=・\u{200C}-]{1,3}",
        "\\PC{0,6}",
        "(https?|xmpp|magnet|gemini)://?[a-zé例]{1,5}\\.[a-zé]{1,3}[/?#()\\[\\]@.a-z]{0,40}",
        "@[a-z_.-]{1,4}@?[a-z.例]{0,6}",
        "[#＃][a-zA-Zé0-9_・]{1,6}",
        Just("\r\n".to_owned()),
        any::<String>(),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Tag soup.
fn html() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "</?(p|a|b|h1|ul|ol|li|span|svg|script|ruby|rt|pre|div|br|style|textarea)( ?[a-z]{0,5}=?[\"']?[a-z:/ ]{0,9}[\"']?)?/?>",
        "<a href=[\"']?(https://|javascript:|/)[a-z<>&;\"' ]{0,6}[\"']?( class=\"(mention|x|h-card)\")?>",
        "<!-{0,3}[a>-]{0,4}",
        "&(amp|lt|#60|#x3c|quot|#0|nbsp|[a-z]{1,4});?",
        "[<>/\"'=!? a-z]{0,6}",
        any::<String>(),
    ];
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

/// Asserts that tags nest properly and are `allowed` elements, and that no unescaped characters are left between
/// them.
fn assert_well_formed(html: &str, allowed: &[&str]) {
    let mut open: Vec<&str> = Vec::new();
    let mut pieces = html.split('<');
    assert!(!pieces.next().unwrap_or_default().contains('>'), "stray > in {html:?}");
    for piece in pieces {
        let (tag, text) = piece.split_once('>').unwrap_or_else(|| panic!("unclosed tag in {html:?}"));
        assert!(!text.contains('>'), "stray > in {html:?}");
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes of {tag:?}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "nesting of {html:?}");
        } else if tag != "br /" {
            let name = tag.split(' ').next().unwrap_or_default();
            assert!(allowed.contains(&name), "{name} in {html:?}");
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} left open in {html:?}");
}

fn targets() -> Vec<MentionTarget> {
    let target = |username: &str, domain: Option<&str>| MentionTarget {
        username: username.into(),
        domain: domain.map(Into::into),
        url: "https://a.example/\"><".into(),
    };
    vec![target("a", None), target("a", Some("b")), target("ab", None), target("b", Some("a.a"))]
}

/// `text` with its white space normalised as in paragraphs, and `＃` as `#`.
fn typed(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('＃', "#");
    let parts: Vec<_> =
        text.split("\n\n").map(|part| part.trim_matches('\n')).filter(|part| !part.is_empty()).collect();
    parts.join("\n\n").trim().to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(1500), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn local_html_is_well_formed_and_without_newlines(text in text()) {
        let targets = targets();
        let links = Links { web_origin: "https://example.com", mentions: &targets };
        for html in [to_html(&text, &links), field_to_html(&text, &links)] {
            assert_well_formed(&html, &["p", "a", "span"]);
            prop_assert!(!html.contains(['\n', '\r']));
        }
    }

    #[test]
    fn stripping_local_html_gives_the_text_back(text in text()) {
        prop_assume!(!contains_nul(&text));
        let html = to_html(&text, &Links { web_origin: "https://example.com", mentions: &[] });
        prop_assert_eq!(plain(&html).replace('＃', "#"), typed(&text));
    }

    #[test]
    fn sanitising_local_html_changes_no_words(text in text()) {
        prop_assume!(!contains_nul(&text));
        let html = to_html(&text, &Links { web_origin: "https://example.com", mentions: &[] });
        prop_assert_eq!(plain(&sanitise(&html)), plain(&html));
    }

    #[test]
    fn entities_are_in_order_and_in_bounds(text in text()) {
        let mut at = 0;
        for entity in scan(&text) {
            prop_assert!(at <= entity.range.start && entity.range.start < entity.range.end);
            prop_assert!(text.get(entity.range.clone()).is_some());
            at = entity.range.end;
        }
    }

    #[test]
    fn any_text_can_be_measured_and_rewritten(text in text()) {
        let rewritten = rewrite_local_mentions(&text, &["a.a", "b"]);
        prop_assert!(length(&rewritten) <= rewritten.len() + URL_LENGTH * scan(&rewritten).urls().count());
        for shortcode in emoji_shortcodes(&text) {
            prop_assert!(shortcode.len() >= 2 && text.contains(shortcode));
        }
        prop_assert!(language::resolve(&text).is_none_or(|code| text.trim().len() >= code.len()));
        prop_assert!(language::from_accept_language(&text).is_none_or(|code| text.len() >= code.len()));
    }

    #[test]
    fn normal_form_is_normal(name in "[a-zA-Zéßıſ0-9_・·İΣςｶﾞ\\u{200C}あ]{1,6}|\\PC{1,4}") {
        if let Some(normal) = hashtag::normalise(&name) {
            prop_assert!(normal.chars().all(|c| !c.is_ascii_uppercase()));
            if let Some(again) = hashtag::normalise(&normal) {
                prop_assert_eq!(again, normal);
            }
        }
    }

    #[test]
    fn remote_html_is_well_formed_and_allowed(html in html()) {
        let clean = sanitise(&html);
        assert_well_formed(&clean, &[
            "p", "span", "a", "del", "s", "pre", "blockquote", "code", "b", "strong", "u", "i", "em", "ul", "ol", "li", "ruby", "rt", "rp",
        ]);
        prop_assert!(!clean.contains("=\"javascript:"));
        prop_assert_eq!(sanitise(&clean), clean.clone(), "sanitising twice");
    }

    #[test]
    fn any_markdown_is_harmless(text in prop_oneof![text(), html(), "[\\[\\]()!*_`<>a:\n #|-]{0,40}"]) {
        let html = markdown(&text);
        for bad in ["<script", "<img", "<a href=\"javascript", "<a href=\"data"] {
            prop_assert!(!html.contains(bad));
        }
    }
}

/// Any of these repeated to 200 KB is processed in well under a second; quadratic time would take minutes.
///
/// The bound leaves room for a busy machine and unoptimised code.
#[test]
fn time_is_about_linear() {
    for unit in [
        "https://a.bc/(",
        "https://a.bc/[",
        "https://a.bc/)",
        "https://a.bc/",
        "@a@",
        "@a.",
        "@a-",
        "#a・",
        "##",
        ":aa",
        "https://",
        "a.",
        "(((",
        "magnet:?",
        "xmpp:",
        "xmpp:a@",
        "https://a.b.",
        "e\u{301}",
        "<",
        "<a",
        "<a b",
        "<a b='",
        "</p",
        "<!--",
        "<!---->",
        "<b>",
        "<b><p>",
        "<ul><b><li>",
        "<a href=https://a>",
        "</b>",
        "<svg>",
        "<script>",
        "<textarea>x</textarea>",
        "<span><p>",
        "<ruby><b><rt>",
        "&",
        "&am",
        "&#",
        "\n",
        "\n\n",
    ] {
        let text = unit.repeat(200_000 / unit.len());
        let start = Instant::now();
        let html = to_html(&text, &Links { web_origin: "https://example.com", mentions: &[] });
        let sizes =
            (html.len(), length(&text), emoji_shortcodes(&text).len(), sanitise(&text).len(), plain(&text).len());
        assert!(start.elapsed() < Duration::from_secs(60), "{unit:?} took {:?} for {sizes:?}", start.elapsed());
    }
}

#[test]
fn nul_is_noticed() {
    assert!(contains_nul("a\0b"));
    assert!(!contains_nul("ab"));
}
