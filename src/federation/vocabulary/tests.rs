//! Documents of many shapes.

use super::*;

fn document(members: &str) -> Vec<u8> {
    format!(r#"{{"@context":["https://www.w3.org/ns/activitystreams",{{"toot":"x"}}],{members}}}"#).into_bytes()
}

#[test]
fn members_of_unexpected_shapes_are_absent() {
    let body = document(
        r#""id":"https://a.test/1","type":["Note","Article"],"attributedTo":{"id":"https://a.test/u"},"content":7,
           "summary":null,"to":"as:Public","cc":[{"id":"https://a.test/f"},3,null],"tag":{"type":"Hashtag","name":"x"},
           "url":[{"type":"Link","href":"https://a.test/p","mediaType":"text/html"},"https://a.test/q"]"#,
    );
    let note: Note = parse(&body).unwrap();
    assert_eq!(note.attributed_to[0].0, "https://a.test/u");
    assert_eq!((note.content.0, note.summary.0), (None, None));
    assert!(is_public(&note.to[0]) && note.cc.len() == 1 && note.tag[0].is("Hashtag"));
    assert_eq!(
        note.url.iter().map(|link| link.href.as_str()).collect::<Vec<_>>(),
        ["https://a.test/p", "https://a.test/q"]
    );
}

#[test]
fn object_of_an_activity_is_read_by_its_kind() {
    let body = document(
        r#""type":"Create","actor":"https://a.test/u","object":{"id":"https://a.test/1","type":"Note","content":"x"}"#,
    );
    let activity: Activity = parse(&body).unwrap();
    assert!(activity.is("Create"));
    let note: Note = activity.object[0].read().unwrap();
    assert_eq!(note.content.as_deref(), Some("x"));

    let body = document(r#""type":"Undo","actor":{"id":"https://a.test/u"},"object":"https://a.test/like""#);
    let activity: Activity = parse(&body).unwrap();
    assert_eq!(activity.object[0].id.as_deref(), Some("https://a.test/like"));
    assert!(activity.object[0].read::<Activity>().is_none());
}

#[test]
fn text_that_is_no_document_is_refused() {
    let refused = |body: &[u8]| parse::<Activity>(body).unwrap_err().to_string();
    assert!(refused(b"{").contains("cannot be read"));
    assert!(refused(br#"{"type":"Like","actor":"https://a.test/u"}"#).contains("not ActivityStreams"));
    assert!(refused(&document(r#""type":"Like""#)).contains("actor"));
    assert!(refused("[".repeat(40).as_bytes()).contains("nested deeper"));
    let many = format!("[{}1]", "1,".repeat(20_000));
    assert!(refused(&document(&format!(r#""to":{many}"#))).contains("more than"));
}

#[test]
fn nul_characters_are_left_out() {
    let body = document(r#""id":"https://a.test/\u0000","type":"Note","content":"a\u0000\\u0000\n\u00001""#);
    let note: Note = parse(&body).unwrap();
    assert_eq!((note.id.as_str(), note.content.as_deref()), ("https://a.test/", Some("a\\u0000\n1")));
    assert!(parse::<Note>(&document(r#""id":"\u0000\"#)).is_err());
}

#[test]
fn host_of_an_id_has_one_spelling() {
    let body = document(
        r#""id":"https://B\u00fccher.test:8443/\u00fc","type":"Create","actor":{"id":"https://b\u00fccher.test/u"},
           "object":"https://b\u00fccher.test/1""#,
    );
    let activity: Activity = parse(&body).unwrap();
    assert_eq!(activity.actor.0, "https://xn--bcher-kva.test/u");
    assert_eq!(activity.object[0].id.as_deref(), Some("https://xn--bcher-kva.test/1"));
    let note: Note = parse(&body_of("https://B\u{fc}cher.test:8443/\u{fc}")).unwrap();
    assert_eq!(note.id, "https://xn--bcher-kva.test:8443/\u{fc}", "and its path stays");
    for other in ["https://a.test/\u{fc}", "https://\u{ff41}.test/1", "\u{fc}"] {
        let note: Note = parse(&body_of(other)).unwrap();
        assert_eq!(note.id, other);
    }
}

fn body_of(id: &str) -> Vec<u8> {
    document(&format!(r#""id":"{id}","type":"Note""#))
}
