//! Examples of content that the sanitiser keeps and drops.

use super::{sanitise, sanitise_quoting};

const LINK: &str = "rel=\"nofollow noopener noreferrer\" target=\"_blank\"";

#[test]
fn allowed_elements_stay() {
    for html in [
        "<p>a<br />b</p><p><del>c</del><s>d</s><u>e</u></p>",
        "<pre><code>x &lt; y &amp;&amp; z</code></pre>",
        "<blockquote><p><b>a</b><strong>b</strong><i>c</i><em>d</em></p></blockquote>",
        "<ul><li>a<ol><li>b</li></ol></li></ul>",
        "<ol start=\"3\" reversed><li value=\"-2\">a</li></ol>",
        "<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby>",
        "<span class=\"h-card\" translate=\"no\">x</span>",
    ] {
        assert_eq!(sanitise(html), html);
    }
}

#[test]
fn html_of_local_text_survives() {
    let html = crate::to_html(
        "#a https://example.com/1234567890123456789012345 <b>",
        &crate::Links { web_origin: "https://example.com", mentions: &[] },
    );
    assert_eq!(crate::plain(&sanitise(&html)), crate::plain(&html));
    assert!(sanitise(&html).contains("class=\"mention hashtag\""));
    assert!(sanitise(&html).contains("<span class=\"ellipsis\">example.com/123456789012345678</span>"));
}

#[test]
fn unknown_elements_leave_their_content() {
    assert_eq!(sanitise("<div><p>a</p><img src=x onerror=y><table><tr><td>b</td></tr></table></div>"), "<p>a</p>b");
    assert_eq!(sanitise("a<custom-tag>b</custom-tag><br/>"), "ab<br />");
}

#[test]
fn scripts_styles_and_frames_go_with_their_content() {
    for name in ["script", "style", "svg", "math", "iframe", "object", "noscript", "template", "textarea"] {
        assert_eq!(sanitise(&format!("a<{name} x=y>b<p>c</p></{name}>d")), "ad");
    }
}

#[test]
fn headings_are_bold_paragraphs() {
    assert_eq!(
        sanitise("<h1 class=x>a</h1><h6>b <em>c</em></h6>"),
        "<p><strong>a</strong></p><p><strong>b <em>c</em></strong></p>"
    );
    assert_eq!(sanitise("<p>a<h2>b<p>c"), "<p>a</p><p><strong>b</strong></p><p>c</p>");
}

#[test]
fn link_gets_fixed_rel_and_target() {
    assert_eq!(
        sanitise(
            "<a onclick=x target=_self rel='me tag' href='https://a.example/?b=1&amp;c=\"' class='u-url evil mention' translate=no>x</a>"
        ),
        format!(
            "<a href=\"https://a.example/?b=1&amp;c=&quot;\" class=\"u-url mention\" translate=\"no\" {LINK}>x</a>"
        )
    );
    assert_eq!(sanitise("<a href=MAGNET:?xt=y>x</a>"), format!("<a href=\"MAGNET:?xt=y\" {LINK}>x</a>"));
}

#[test]
fn link_of_other_scheme_is_plain_text() {
    for href in [
        "javascript:alert(1)",
        " java\nscript:alert(1)",
        "&#106;avascript:alert(1)",
        "data:text/html,x",
        "mailto:a@b.c",
        "ftp://a.b",
        "/about",
        "//a.example",
        "about",
        "#x",
        "",
        "https:",
        "http:evil",
        "https:/x",
        "vbscript:x",
        "\u{1}javascript:x",
        "xmpp:",
    ] {
        assert_eq!(sanitise(&format!("a<a href=\"{href}\">b</a>c")), "abc", "{href}");
    }
    assert_eq!(sanitise("<a name=x>b</a><a>c</a>"), "bc");
}

#[test]
fn address_is_read_as_browsers_do() {
    assert_eq!(
        sanitise("<a href=' ht\ntps://a.example/\t '>b</a>"),
        format!("<a href=\"https://a.example/\" {LINK}>b</a>")
    );
}

#[test]
fn other_attributes_and_classes_go() {
    assert_eq!(sanitise("<p style=x id=y class=h-card>a</p>"), "<p>a</p>");
    assert_eq!(sanitise("<span class='evil' translate=yes dir=rtl>a</span>"), "<span>a</span>");
    assert_eq!(
        sanitise("<span class='h-card xh-y dt-start ellipsis Invisible invisible'>a</span>"),
        "<span class=\"h-card dt-start ellipsis invisible\">a</span>"
    );
    assert_eq!(sanitise("<ol start='x' type=a><li value=99999999999>a</ol>"), "<ol><li>a</li></ol>");
}

#[test]
fn missing_end_tags_are_supplied() {
    assert_eq!(sanitise("<p>a<p>b<ul><li>c<li>d<b>e</ul>f"), "<p>a</p><p>b</p><ul><li>c</li><li>d<b>e</b></li></ul>f");
    assert_eq!(sanitise("<ruby>a<rt>b<rt>c"), "<ruby>a<rt>b</rt><rt>c</rt></ruby>");
    assert_eq!(sanitise("<b><i>a</b>b</i>"), "<b><i>a</i></b>b");
}

#[test]
fn stray_end_tags_are_ignored() {
    assert_eq!(sanitise("</p>a</b></ul>b</script>c</h1>"), "abc");
    assert_eq!(sanitise("<h1>a</h3>b"), "<p><strong>a</strong></p>b");
}

#[test]
fn links_do_not_nest() {
    let link = |text: &str| format!("<a href=\"https://a.example\" {LINK}>{text}</a>");
    assert_eq!(
        sanitise("<a href=https://a.example>a<b><a href=https://a.example>b</a>"),
        format!("{}{}", link("a<b></b>"), link("b"))
    );
}

#[test]
fn text_is_escaped_once() {
    assert_eq!(
        sanitise("1 < 2 &lt;b&gt; &amp;amp; it's \"x\" &copy; &lt;script>"),
        "1 &lt; 2 &lt;b&gt; &amp;amp; it's \"x\" © &lt;script&gt;"
    );
    assert_eq!(sanitise("<<p>a</p>"), "&lt;<p>a</p>");
    assert_eq!(sanitise("a<!-- <p> -->b\0&#0;"), "ab\u{FFFD}");
}

#[test]
fn deep_nesting_is_flattened() {
    let html = format!("{}x{}y", "<blockquote>".repeat(1000), "</blockquote>".repeat(1000));
    let clean = sanitise(&html);
    assert_eq!(clean.matches("<blockquote>").count(), super::MAX_DEPTH);
    assert!(clean.ends_with("</blockquote>y"));
}

/// Input for which tree builders repeat the open formatting elements in every paragraph.
#[test]
fn formatting_is_not_multiplied() {
    let html: String = (0..2000).map(|n| format!("<b a={n}>")).chain((0..4000).map(|_| "<p>x".to_owned())).collect();
    assert!(sanitise(&html).len() < html.len() * 2);
}

#[test]
fn hostile_classics_come_out_harmless() {
    for html in [
        "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
        "<svg></p><style><a title=\"</style><img src onerror=alert(1)>\">",
        "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
        "<a href=\"https://x\"onclick=alert(1)>x</a>",
        "<p/onclick=alert(1)>x",
        "<<script>alert(1)</script>",
        "<scr<script>ipt>alert(1)</script>",
        "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
        "<a href=\"https://x/\"><img alt='</a><script>'>",
    ] {
        let clean = sanitise(html);
        let markup: String =
            clean.split('<').skip(1).map(|tag| tag.split('>').next().unwrap_or_default()).collect::<Vec<_>>().join(" ");
        for bad in ["script", "img", "onerror", "onclick", "style", "svg"] {
            assert!(!markup.contains(bad), "{html} -> {clean}");
        }
    }
}

#[test]
fn line_of_a_quote_is_left_out() {
    let line = r#"<span class="quote-inline"><br/><br/>RE: <span>x</span><a href="https://a.test/1">1</a></span>"#;
    assert_eq!(sanitise_quoting(&format!("<p>look{line}!</p><p>end</p>")), "<p>look!</p><p>end</p>");
    let line = r#"<p class="x quote-inline">RE: <a href="https://a.test/1">1</a></p>"#;
    assert_eq!(sanitise_quoting(&format!("{line}<p>look</p>")), "<p>look</p>");
    assert_eq!(sanitise_quoting(&format!("<p></p>{line}")), "");
    assert_eq!(sanitise_quoting("<br class=quote-inline>a<a class=quote-inline>b</a>"), "<br />ab");
    assert_eq!(sanitise_quoting("a<p class=quote-inline>b"), "a");
    assert!(sanitise(&format!("{line}<p>look</p>")).starts_with("<p>RE: "));
}
