//! The HTML of players in link previews: a sanitiser with a separate allow-list.
//!
//! As in [`sanitise()`](crate::sanitise()), the output is written from tokens. Frames are sandboxed; there is no
//! script, no style and no text.
//!
//! Spec: docs/contract/rules.md#11-html, "Card html".

use super::escape::push_escaped;
use super::tokens::{Tag, Token, tokens_with_raw};

/// The permissions of a frame: play, open links. It cannot navigate this page.
const SANDBOX: &str = "allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-forms";

/// Most elements of the output.
const MAX_ELEMENTS: usize = 32;

/// An allowed element.
struct Element {
    name: &'static str,
    /// Attributes whose value is a number of pixels, or a percentage.
    sizes: &'static [&'static str],
    /// Attributes without a value.
    flags: &'static [&'static str],
    /// The element is dropped without a `src` attribute.
    needs_source: bool,
    closes: bool,
}

const ELEMENTS: [Element; 5] = [
    Element { name: "audio", sizes: &[], flags: &["controls"], needs_source: false, closes: true },
    // Written as a frame, since its content could not be sandboxed otherwise.
    Element { name: "embed", sizes: &["width", "height"], flags: &[], needs_source: true, closes: false },
    Element {
        name: "iframe",
        sizes: &["width", "height", "frameborder"],
        flags: &["allowfullscreen"],
        needs_source: true,
        closes: true,
    },
    Element { name: "source", sizes: &[], flags: &[], needs_source: true, closes: false },
    Element {
        name: "video",
        sizes: &["width", "height"],
        flags: &["controls", "loop"],
        needs_source: false,
        closes: true,
    },
];

/// The players in `html`: frames, audio and video, with `http` and `https` sources. Empty when there is none.
#[must_use]
pub fn embed(html: &str) -> String {
    let mut out = String::new();
    // Audio and video elements that are still open.
    let mut open: Vec<&'static str> = Vec::new();
    let mut written = 0;
    for token in tokens_with_raw(html) {
        match token {
            Token::Start(tag) | Token::Raw(tag, _) if written < MAX_ELEMENTS => {
                let Some(element) = ELEMENTS.iter().find(|element| element.name == tag.name) else { continue };
                if !start(&mut out, element, &tag) {
                    continue;
                }
                written += 1;
                match element.name {
                    "iframe" | "embed" => out.push_str("</iframe>"),
                    name if element.closes => open.push(name),
                    _ => {}
                }
            }
            Token::End(name) if open.contains(&name.as_str()) => {
                while let Some(ended) = open.pop() {
                    end(&mut out, ended);
                    if ended == name {
                        break;
                    }
                }
            }
            Token::Start(_) | Token::End(_) | Token::Text(_) | Token::Raw(..) => {}
        }
    }
    while let Some(ended) = open.pop() {
        end(&mut out, ended);
    }
    out
}

fn end(out: &mut String, name: &str) {
    out.push_str("</");
    out.push_str(name);
    out.push('>');
}

/// Appends the start tag of `element`; false when it has no allowed source.
fn start(out: &mut String, element: &Element, tag: &Tag<'_>) -> bool {
    let source = tag.attribute("src").and_then(|address| source(&address));
    if element.needs_source && source.is_none() {
        return false;
    }
    let is_frame = matches!(element.name, "iframe" | "embed");
    out.push('<');
    out.push_str(if is_frame { "iframe" } else { element.name });
    if let Some(source) = source {
        attribute(out, "src", &source);
    }
    for name in element.sizes {
        let value = tag.attribute(name).map(|value| value.trim().to_owned());
        if let Some(value) = value.filter(|value| is_size(value)) {
            attribute(out, name, &value);
        }
    }
    for name in element.flags.iter().filter(|name| tag.attribute(name).is_some()) {
        out.push(' ');
        out.push_str(name);
    }
    if is_frame {
        attribute(out, "sandbox", SANDBOX);
    }
    out.push('>');
    true
}

/// Accepts `address` if it is an `http` or `https` URL; a URL without a scheme gets `https`.
fn source(address: &str) -> Option<String> {
    let address = address.trim();
    let url = if address.starts_with("//") { format!("https:{address}") } else { address.to_owned() };
    let url = url::Url::parse(&url).ok()?;
    matches!(url.scheme(), "http" | "https").then(|| url.into())
}

fn is_size(value: &str) -> bool {
    let digits = value.strip_suffix('%').unwrap_or(value);
    (1..=5).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    push_escaped(out, value);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_is_sandboxed() {
        let frame = r#"<p>x</p><iframe width="560" height=31a onload=alert(1) srcdoc="<script>" src="//v.test/1?a=1&amp;b=2" allowfullscreen style="position:fixed"><b>no</b></iframe><script>alert(1)</script>"#;
        assert_eq!(
            embed(frame),
            format!(
                r#"<iframe src="https://v.test/1?a=1&amp;b=2" width="560" allowfullscreen sandbox="{SANDBOX}"></iframe>"#
            )
        );
    }

    #[test]
    fn embedded_document_is_shown_in_a_sandboxed_frame() {
        assert_eq!(
            embed("<embed src='https://v.test/' width=400 type='text/html' onload=alert(1)>"),
            format!(r#"<iframe src="https://v.test/" width="400" sandbox="{SANDBOX}"></iframe>"#)
        );
    }

    #[test]
    fn players_are_closed_and_need_sources_of_the_web() {
        assert_eq!(
            embed(r#"<video controls width="100%"><source src="https://a.test/v.mp4" type=x><img src=x></div>"#),
            r#"<video width="100%" controls><source src="https://a.test/v.mp4"></video>"#
        );
        assert_eq!(embed("<audio controls></audio>x</audio>"), "<audio controls></audio>");
        for nothing in [
            "<iframe src='javascript:alert(1)'></iframe>",
            "<iframe srcdoc='x'></iframe>",
            "<embed src='data:text/html,x'>",
            "<iframe src='/relative'></iframe>",
            "<object data='https://a.test/'></object>",
            "<img src='https://a.test/' onerror=alert(1)>",
            "text",
            "<iframe src='https://a.test/'",
        ] {
            assert_eq!(embed(nothing), "", "{nothing}");
        }
    }

    #[test]
    fn output_is_bounded() {
        assert!(embed(&"<video>".repeat(100_000)).len() < 1_000);
    }
}
