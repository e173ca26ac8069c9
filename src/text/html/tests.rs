//! Examples of text converted to HTML.

use super::*;

fn target(username: &str, domain: Option<&str>) -> MentionTarget {
    let url = format!("https://{}/@{username}", domain.unwrap_or("example.com"));
    MentionTarget { username: username.into(), domain: domain.map(Into::into), url }
}

fn links(mentions: &[MentionTarget]) -> Links<'_> {
    Links { web_origin: "https://example.com", mentions }
}

fn body(text: &str) -> String {
    to_html(text, &links(&[]))
}

#[test]
fn blank_lines_part_paragraphs_and_newlines_break_lines() {
    assert_eq!(body("a\nb\n\nc\n\n\n\nd"), "<p>a<br />b</p><p>c</p><p>d</p>");
    assert_eq!(body("a\r\nb\r\n\r\nc\rd"), "<p>a<br />b</p><p>c<br />d</p>");
    assert_eq!(body("\n\n\na\n\n\n"), "<p>a</p>");
}

#[test]
fn no_text_is_no_html() {
    assert_eq!(body(""), "");
    assert_eq!(body("\n\r\n\n"), "");
}

#[test]
fn markup_is_escaped() {
    assert_eq!(body("<b>it's & \"so\"</b>"), "<p>&lt;b&gt;it&#39;s &amp; &quot;so&quot;&lt;/b&gt;</p>");
}

#[test]
fn short_link_is_shown_without_scheme() {
    assert_eq!(
        body("https://www.example.com/a?b=1&c=2"),
        "<p><a href=\"https://www.example.com/a?b=1&amp;c=2\" target=\"_blank\" rel=\"nofollow noopener noreferrer\" translate=\"no\">\
         <span class=\"invisible\">https://www.</span><span class=\"\">example.com/a?b=1&amp;c=2</span>\
         <span class=\"invisible\"></span></a></p>"
    );
}

#[test]
fn long_link_is_cut_after_thirty_characters() {
    let html = body("http://example.com/123456789012345678901234567890");
    assert!(html.contains(
        "<span class=\"invisible\">http://</span><span class=\"ellipsis\">example.com/123456789012345678</span>\
         <span class=\"invisible\">901234567890</span>"
    ));
    let exact = body("https://example.com/123456789012345678");
    assert!(exact.contains("<span class=\"\">example.com/123456789012345678</span><span class=\"invisible\"></span>"));
}

#[test]
fn rarer_schemes_stay_visible() {
    assert!(
        body("gemini://example.com")
            .contains("<span class=\"invisible\"></span><span class=\"\">gemini://example.com</span>")
    );
    assert!(
        body("xmpp:a@example.com")
            .contains("<span class=\"invisible\">xmpp:</span><span class=\"\">a@example.com</span>")
    );
}

#[test]
fn hashtag_links_its_normal_name() {
    assert_eq!(
        body("＃Café"),
        "<p><a href=\"https://example.com/tags/cafe\" class=\"mention hashtag\" rel=\"tag\">#<span>Café</span></a></p>"
    );
    assert!(body("#日本").contains("/tags/%E6%97%A5%E6%9C%AC\""));
}

#[test]
fn known_account_is_linked_and_unknown_stays_text() {
    let accounts = [target("alice", None), target("Bob", Some("remote.example"))];
    assert_eq!(
        to_html("@Alice @bob@Remote.Example @eve", &links(&accounts)),
        "<p><span class=\"h-card\" translate=\"no\"><a href=\"https://example.com/@alice\" class=\"u-url mention\">@<span>alice</span></a></span> \
         <span class=\"h-card\" translate=\"no\"><a href=\"https://remote.example/@Bob\" class=\"u-url mention\">@<span>Bob</span></a></span> @eve</p>"
    );
    assert_eq!(to_html("@bob", &links(&accounts)), "<p>@bob</p>");
}

#[test]
fn namesakes_show_their_domain() {
    let accounts = [target("alice", None), target("Alice", Some("remote.example")), target("bob", Some("b.example"))];
    let html = to_html("@alice @alice@remote.example @bob@b.example", &links(&accounts));
    assert!(html.contains("@<span>alice</span>"));
    assert!(html.contains("@<span>Alice@remote.example</span>"));
    assert!(html.contains("@<span>bob</span>"));
}

#[test]
fn account_given_twice_is_no_namesake() {
    let accounts = [target("bob", Some("b.example")), target("bob", Some("b.example"))];
    assert!(to_html("@bob@b.example", &links(&accounts)).contains("@<span>bob</span>"));
}

#[test]
fn field_is_one_line_of_own_links() {
    let accounts = [target("bob", Some("b.example")), target("alice", None)];
    let html = field_to_html("https://bob.example\n@bob@b.example @alice <", &links(&accounts));
    assert!(html.starts_with(
        "<a href=\"https://bob.example\" target=\"_blank\" rel=\"nofollow noopener noreferrer me\" translate=\"no\">"
    ));
    assert!(html.contains("</a> <span class=\"h-card\""));
    assert!(html.contains("@<span>bob@b.example</span>"));
    assert!(html.contains("@<span>alice</span>"));
    assert!(html.ends_with(" &lt;"));
}

#[test]
fn hostile_profile_address_stays_in_its_attribute() {
    let accounts = [MentionTarget { username: "a".into(), domain: None, url: "x\" onclick=\"y".into() }];
    assert!(to_html("@a", &links(&accounts)).contains("href=\"x&quot; onclick=&quot;y\""));
}
