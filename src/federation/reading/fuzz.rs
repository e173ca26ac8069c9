//! Property tests: any document is read or refused, and its kept members stay within bounds.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};

use super::{author_of, converted, emoji, media, members, profile, username, visibility};
use crate::address::{URL_MAX, is_usable, same_host};
use crate::vocabulary::{Activity, Actor, Jrd, KeyDocument, Note, parse, parse_plain};
use model::account::Searchability;

/// Documents that have every member once.
fn examples() -> [Value; 4] {
    let context = "https://www.w3.org/ns/activitystreams";
    let public = "https://www.w3.org/ns/activitystreams#Public";
    let link = json!({ "type": "Link", "href": "https://a.test/v.mp4", "mediaType": "video/mp4", "height": 720, "width": 1280 });
    let picture = json!({ "type": "Image", "mediaType": "image/png", "url": "https://a.test/x.png", "name": "x" });
    let emoji = json!({ "type": "Emoji", "id": "https://a.test/e/1", "name": ":rook:", "icon": picture, "keywords": ["x"], "isSensitive": false, "license": "CC0", "updated": "2026-01-01T00:00:00Z" });
    let note = json!({
        "@context": context, "id": "https://a.test/1", "type": "Video", "attributedTo": [{ "type": "Person", "id": "https://a.test/u" }],
        "inReplyTo": "https://b.test/2", "content": "<p>x</p>", "contentMap": { "en": "<p>x</p>" }, "name": "a title", "nameMap": { "en": "a" },
        "summary": "boo", "summaryMap": { "en": "boo" }, "published": "2026-01-01T00:00:00Z", "updated": "2026-01-02T00:00:00Z",
        "url": [link, { "type": "Link", "href": "https://a.test/l", "mediaType": "application/x-mpegURL", "tag": [link] }, "https://a.test/p"],
        "to": [public], "cc": ["https://a.test/u/followers"], "sensitive": false, "conversation": "tag:a.test,2026:1", "context": "https://a.test/c",
        "attachment": [{ "type": "Document", "mediaType": "image/png", "url": "https://a.test/x.png", "blurhash": "U00000", "focalPoint": [0.0, 0.5], "width": 1, "height": 2, "icon": picture }, { "type": "Link", "href": "https://b.test/" }],
        "tag": [emoji, { "type": "Hashtag", "name": "#x" }, { "type": "Mention", "href": "https://b.test/u" }, { "type": "Link", "href": "https://b.test/q", "mediaType": "application/activity+json" }],
        "quoteUrl": "https://b.test/q", "references": { "first": { "items": ["https://b.test/r"] } }, "searchableBy": [public], "limitedScope": "Circle",
        "icon": picture, "image": picture, "duration": "PT1M", "startTime": "2026-01-01T00:00:00Z", "endTime": "2026-01-01T01:00:00+01:00", "mediaType": "text/html", "language": { "identifier": "en" },
        "location": { "type": "Place", "name": "here", "address": { "streetAddress": "x", "postalCode": "1", "addressLocality": "y", "addressCountry": "z" } },
    });
    let actor = json!({
        "@context": context, "id": "https://a.test/u", "type": "Person", "preferredUsername": "u", "name": "U", "summary": "x", "url": "https://a.test/@u",
        "inbox": "https://a.test/u/inbox", "outbox": "https://a.test/u/outbox", "followers": "https://a.test/u/followers", "following": "https://a.test/u/following",
        "featured": "https://a.test/u/featured", "endpoints": { "sharedInbox": "https://a.test/inbox" }, "publicKey": { "id": "https://a.test/u#key", "owner": "https://a.test/u", "publicKeyPem": "x" },
        "assertionMethod": [{ "id": "https://a.test/u#ed25519-key", "type": "Multikey", "controller": "https://a.test/u", "publicKeyMultibase": "z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK" }], "webfinger": "u@a.test",
        "manuallyApprovesFollowers": true, "discoverable": true, "indexable": true, "memorial": false, "alsoKnownAs": ["https://b.test/u"], "attributionDomains": ["b.test"],
        "attachment": [{ "type": "PropertyValue", "name": "a", "value": "b" }], "tag": [emoji], "icon": picture, "image": picture, "published": "2026-01-01T00:00:00Z",
        "searchableBy": [public], "otherSetting": [{ "type": "PropertyValue", "name": "noindex", "value": true }],
    });
    let create = json!({ "@context": context, "id": "https://a.test/1/activity", "type": "Create", "actor": "https://a.test/u", "object": note, "to": [public], "cc": [], "published": "2026-01-01T00:00:00Z" });
    let jrd = json!({ "@context": context, "subject": "acct:u@a.test", "links": [{ "rel": "self", "type": "application/activity+json", "href": "https://a.test/u" }] });
    [note, actor, create, jrd]
}

/// A text that means something somewhere.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "https?://(a|b)\\.test(:[0-9]{1,5})?/[a-z0-9/?#.]{0,12}",
        select(
            &[
                "Note", "Question", "Article", "Page", "Event", "Video", "Audio", "Image", "Emoji", "Link", "Hashtag",
                "Mention", "Person", "Group", "Create", "Place"
            ][..]
        )
        .prop_map(str::to_owned),
        select(
            &[
                "as:Public",
                "Public",
                "LoginUser",
                "text/html",
                "text/markdown",
                "video/mp4",
                "application/activity+json",
                ":rook:",
                "PT1H2M3S",
                "en",
                "und"
            ][..]
        )
        .prop_map(str::to_owned),
        "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2})",
        "PT[0-9HMS.eE+-]{0,12}",
        "</?(p|a|b|span|script)( class=\"quote-inline\")?>[a-z&;<>]{0,8}",
        "(\\PC{0,20}|[a-z ]{0,700})",
        any::<String>(),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    let member = prop_oneof![
        select(
            &[
                "id",
                "type",
                "href",
                "url",
                "name",
                "mediaType",
                "icon",
                "tag",
                "items",
                "first",
                "address",
                "identifier"
            ][..]
        )
        .prop_map(str::to_owned),
        "[a-zA-Z@]{0,8}",
    ];
    leaf.prop_recursive(3, 24, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((member.clone(), inner), 0..5)
                .prop_map(|members| Value::from(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// The places of `document`, each as the path to it.
fn places(document: &Value, at: &str, found: &mut Vec<String>) {
    let mut below = |name: &str, value: &Value| {
        let path = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
        places(value, &path, found);
        found.push(path);
    };
    match document {
        Value::Object(members) => members.iter().for_each(|(name, value)| below(name, value)),
        Value::Array(values) => values.iter().enumerate().for_each(|(index, value)| below(&index.to_string(), value)),
        _ => {}
    }
}

/// An example in which some places have other values, and then perhaps some bytes are others.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let changes = prop::collection::vec((any::<Index>(), value()), 0..5);
    let bytes = prop_oneof![4 => Just(Vec::new()), 1 => prop::collection::vec((any::<Index>(), any::<u8>()), 1..4)];
    (any::<Index>(), changes, bytes).prop_map(|(which, changes, bytes)| {
        let mut document = which.get(&examples()).clone();
        for (at, value) in changes {
            let mut all = Vec::new();
            places(&document, "", &mut all);
            if !all.is_empty()
                && let Some(place) = document.pointer_mut(&all[at.index(all.len())])
            {
                *place = value;
            }
        }
        let mut body = document.to_string().into_bytes();
        for (at, byte) in bytes {
            let at = at.index(body.len());
            body[at] = byte;
        }
        body
    })
}

/// Any text, any JSON, or a changed document.
fn document() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => mutated(),
        1 => value().prop_map(|value| value.to_string().into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 0..64),
    ]
}

/// Reads `found` as a status, and checks its kept members.
fn check_note(found: &Note) {
    _ = author_of(&(), found).map(|author| assert!(same_host(author, &found.id)));
    _ = visibility(&found.to, &found.cc, Some("https://a.test/u/followers"));
    let page = members::page(found);
    assert!(page == found.id || (same_host(&page, &found.id) && page.len() <= URL_MAX));
    for file in media::media(found) {
        assert!(is_usable(&file.url) && file.preview_url.as_deref().is_none_or(is_usable), "{file:?}");
        assert!(file.mime.len() <= 128 && file.seconds.is_none_or(|seconds| seconds.is_finite() && seconds > 0.0));
    }
    let references = members::references(found);
    assert!(references.len() <= 9 && references.iter().skip(1).all(|reference| !reference.quote));
    assert!(references.iter().all(|reference| is_usable(&reference.url) && reference.url != found.id));
    check_emojis(&found.tag);
    _ = (members::hashtags(found), members::language(found), members::spoiler(found));
    let html = members::content(found, &page);
    for html in [text::sanitise(&html), text::sanitise_quoting(&html)] {
        assert!(!html.contains("<script") && !html.contains("quote-inline"), "{html}");
    }
}

fn check_emojis(tags: &[crate::vocabulary::Tag]) {
    let emojis = emoji::emojis("https://a.test/", tags);
    assert!(emojis.len() <= 100);
    for emoji in emojis {
        assert!(emoji.url.to_ascii_lowercase().trim_start().starts_with("https:"), "{emoji:?}");
        assert_eq!(text::emoji_shortcodes(&format!(":{}:", emoji.shortcode)), [emoji.shortcode.as_str()]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn documents_are_read_or_refused(body in document()) {
        if let Ok(found) = parse::<Note>(&body) {
            check_note(&found);
        }
        if let Ok(found) = parse::<Actor>(&body) {
            check_emojis(&found.tag);
            if let (Ok(name), Ok(profile)) = (username(&found), profile(&(), &found, "u", "a.test", Searchability::Direct)) {
                prop_assert!(super::is_username(name));
                prop_assert!(profile.url.is_some_and(|url| url == found.id || same_host(&url, &found.id)));
                for url in [profile.avatar_url, profile.header_url, profile.actor.inbox_url].into_iter().flatten() {
                    prop_assert!(is_usable(&url));
                }
            }
        }
        if let Ok(found) = parse::<Activity>(&body) {
            for object in &*found.object {
                if let Some(inner) = object.read::<Note>() {
                    check_note(&inner);
                }
                _ = (object.read::<Activity>(), object.read::<Actor>());
            }
        }
        _ = parse::<KeyDocument>(&body);
        _ = parse_plain::<Jrd>(&body).map(|answer| answer.actor().map(str::to_owned));
    }

    #[test]
    fn title_of_a_converted_object_is_plain_text(title in text()) {
        let document = json!({ "id": "https://a.test/1", "type": "Article", "name": title, "content": "" }).to_string();
        let found: Note = serde_json::from_str(&document).unwrap();
        let html = text::sanitise(&converted::content(&found, "https://a.test/1"));
        let shown = text::plain(html.split("</p>").next().unwrap());
        let words: Vec<&str> = title.split_whitespace().collect();
        let words: String = words.join(" ").chars().take(500).filter(|character| *character != '\0').collect();
        prop_assume!(!words.trim().is_empty());
        prop_assert_eq!(shown.split_whitespace().collect::<Vec<_>>(), words.split_whitespace().collect::<Vec<_>>());
    }
}

#[test]
fn examples_are_read() {
    let [note, actor, create, jrd] = examples().map(|document| document.to_string().into_bytes());
    check_note(&parse(&note).unwrap());
    assert!(profile(&(), &parse(&actor).unwrap(), "u", "a.test", Searchability::Direct).is_ok());
    assert!(parse::<Activity>(&create).unwrap().object[0].read::<Note>().is_some());
    assert!(parse_plain::<Jrd>(&jrd).unwrap().actor().is_some());
}
