//! Custom emojis among the tags of notes and actors.

use model::Time;
use service::remote::emoji::RemoteEmoji;

use crate::address::URL_MAX;
use crate::vocabulary::Tag;

/// Most custom emojis of a document.
const EMOJIS_MAX: usize = 100;
/// Most other words for an emoji, and the longest of them and of a licence, in characters.
const KEYWORDS_MAX: usize = 16;
const WORDS_MAX: usize = 100;

/// The custom emojis among `tags` of the document `id`, each name once. Pictures are loaded by apps: only over `https`,
/// unless the document itself has none, which only happens in development.
pub(super) fn emojis(id: &str, tags: &[Tag]) -> Vec<RemoteEmoji> {
    let schemes: &[&str] = if id.starts_with("http://") { &["https", "http"] } else { &["https"] };
    let mut found: Vec<RemoteEmoji> = Vec::new();
    for emoji in tags.iter().filter(|tag| tag.is("Emoji")).filter_map(|tag| emoji(tag, schemes)) {
        if found.len() == EMOJIS_MAX {
            break;
        }
        if !found.iter().any(|known| known.shortcode == emoji.shortcode) {
            found.push(emoji);
        }
    }
    found
}

fn emoji(tag: &Tag, schemes: &[&str]) -> Option<RemoteEmoji> {
    let name = tag.name.as_deref()?;
    let shortcode = name.strip_prefix(':').and_then(|name| name.strip_suffix(':')).unwrap_or(name);
    let written = format!(":{shortcode}:");
    // Only names that are found in texts.
    if shortcode.len() > 128 || text::emoji_shortcodes(&written) != [shortcode] {
        return None;
    }
    let fits = |url: url::Url| schemes.contains(&url.scheme());
    let is_picture = |url: &str| url.len() <= URL_MAX && url::Url::parse(url).is_ok_and(fits);
    let url = tag.icon.first()?.url.first().filter(|url| is_picture(url))?;
    let clip = |text: &String| text.chars().take(WORDS_MAX).collect::<String>();
    Some(RemoteEmoji {
        shortcode: shortcode.to_owned(),
        uri: tag.id.0.clone().filter(|id| id.len() <= URL_MAX),
        url: url.0.clone(),
        sensitive: tag.is_sensitive.unwrap_or_default(),
        aliases: tag.keywords.iter().take(KEYWORDS_MAX).map(clip).collect(),
        license: tag.license.as_ref().or(tag.licence.as_ref()).map(clip),
        updated_at: tag.updated.as_deref().and_then(Time::parse_rfc3339),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(json: &str) -> Vec<Tag> {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn emojis_have_usable_names_and_secure_pictures() {
        let read = |name: &str, url: &str| {
            let json = format!(r#"[{{"type":"Emoji","name":"{name}","icon":{{"type":"Image","url":"{url}"}}}}]"#);
            emojis("https://a.test/", &tags(&json)).first().map(|emoji| emoji.shortcode.clone())
        };
        assert_eq!(read(":rook_1:", "https://a.test/1").as_deref(), Some("rook_1"));
        assert_eq!(read("rook", "https://a.test/1").as_deref(), Some("rook"));
        for name in [":a:", "::", ":a b:", ":a-b:", "", ":", ":aa::bb:"] {
            assert_eq!(read(name, "https://a.test/1"), None, "{name}");
        }
        for url in ["http://a.test/1", "javascript:x", "", "data:image/png;base64,AA"] {
            assert_eq!(read(":rook:", url), None, "{url}");
        }
    }

    #[test]
    fn emojis_of_a_document_are_bounded_and_unique() {
        let one =
            |name: usize| format!(r#"{{"type":"Emoji","name":":e{name}:","icon":{{"url":"https://a.test/{name}"}}}}"#);
        let many: Vec<String> = (10..200).chain(10..20).map(one).collect();
        let found = emojis("https://a.test/", &tags(&format!("[{}]", many.join(","))));
        assert_eq!((found.len(), found[0].shortcode.as_str()), (EMOJIS_MAX, "e10"));
        let many: Vec<String> = (10..20).chain(10..20).map(one).collect();
        assert_eq!(emojis("https://a.test/", &tags(&format!("[{}]", many.join(",")))).len(), 10);
    }
}
