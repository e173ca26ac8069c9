//! The links in the HTML of a status from another server.

use super::tokens::{Token, tokens};

/// Most links that are looked at.
const LINKS_MAX: usize = 20;

/// The targets of the first links in `html`, in their order and as written, without mentions and hashtags.
#[must_use]
pub fn links(html: &str) -> Vec<String> {
    let hrefs = tokens(html).filter_map(|token| match token {
        Token::Start(tag) if tag.name == "a" => {
            let has = |attribute: &str, words: &[&str]| {
                let value = tag.attribute(attribute).unwrap_or_default();
                value.split_ascii_whitespace().any(|word| words.contains(&word))
            };
            let names_someone = has("class", &["mention", "hashtag", "u-url"]) || has("rel", &["tag"]);
            tag.attribute("href").filter(|_| !names_someone)
        }
        _ => None,
    });
    hrefs.take(LINKS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentions_and_hashtags_are_no_links() {
        let html = r##"<p><a href="https://a.test/@bob" class="u-url mention">@bob</a> <a rel="nofollow tag" href="/tags/x">#x</a>
            <a class="mention hashtag" href="/tags/y">#y</a> <A HREF="https://b.test/?a=1&amp;b=2">b</A> <a>c</a></p>"##;
        assert_eq!(links(html), ["https://b.test/?a=1&b=2"]);
    }
}
