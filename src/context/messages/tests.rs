//! The message files are consistent, and messages are formatted correctly.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::*;

/// Prefixes of keys that sources complete with a name at run time.
const COMPOSED: [&str; 4] = ["strikes.", "mail_appeal.", "mail_warning.", "scopes."];

/// The names of the arguments of `message`.
fn arguments(message: &Message) -> BTreeSet<String> {
    let names = |pattern: &str| -> BTreeSet<String> {
        pattern.split('{').skip(1).map(|part| part.split('}').next().unwrap().to_owned()).collect()
    };
    match message {
        Message::Plain(pattern) => names(pattern),
        Message::Counted { other, .. } => names(other),
    }
}

fn files(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let read = ["rs", "html", "txt", "xml"].iter().any(|end| path.extension().is_some_and(|found| found == *end));
        if path.is_dir() && name != "target" {
            files(&path, found);
        } else if read && !path.ends_with("core/messages/tests.rs") {
            found.push((path.clone(), fs::read_to_string(&path).unwrap()));
        }
    }
}

/// All sources of the server and its templates.
fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut found);
    assert!(found.len() > 300);
    found
}

/// Each `t("key", name=value)` of a template: the key, and the rest of the call.
fn calls(source: &str) -> impl Iterator<Item = (&str, &str)> {
    let starts = source.match_indices("t(\"").filter(|(at, _)| {
        !source[..*at].ends_with(|before: char| before.is_alphanumeric() || before == '_' || before == '.')
    });
    starts.map(|(at, open)| {
        let call = &source[at + open.len()..];
        let mut depth = 1;
        let end = call.find(|letter| {
            depth += match letter {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            depth == 0
        });
        call[..end.unwrap()].split_once('"').unwrap()
    })
}

#[test]
fn every_language_has_every_message() {
    let of = |language: Language| -> BTreeMap<&str, BTreeSet<String>> {
        language.catalogue().0.iter().map(|(key, message)| (key.as_str(), arguments(message))).collect()
    };
    for language in Language::ALL {
        let (own, english) = (of(language), of(Language::English));
        for (key, arguments) in &english {
            assert_eq!(own.get(key), Some(arguments), "{key} in {}", language.code());
        }
        assert_eq!(own.len(), english.len(), "{} has messages that English has not", language.code());
    }
}

#[test]
fn plural_forms_match_the_language() {
    for language in Language::ALL {
        for (key, message) in &language.catalogue().0 {
            if let Message::Counted { one, other } = message {
                assert_eq!(one.is_some(), language != Language::Japanese, "{key} in {}", language.code());
                assert!(!other.is_empty());
            }
        }
    }
}

#[test]
fn every_message_is_used_and_every_used_one_is_there() {
    let sources = sources();
    let is_used = |part: &str| sources.iter().any(|(_, source)| source.contains(part));
    for (key, message) in &ENGLISH.0 {
        let composed = COMPOSED.iter().any(|start| key.starts_with(start));
        if let (Some(_), Message::Plain(pattern)) = (key.strip_prefix("errors."), message) {
            let spoken = pattern.split(['{', '}']).step_by(2).all(&is_used);
            assert!(spoken, "no service says {pattern:?}");
        } else if !composed {
            assert!(is_used(&format!("\"{key}\"")), "nothing says {key}");
        }
    }
}

#[test]
fn calls_name_messages_and_all_their_arguments() {
    let mut seen = 0;
    for (path, source) in sources().iter().filter(|(path, _)| path.extension().is_some_and(|end| end != "rs")) {
        for (key, rest) in calls(source) {
            if rest.trim_start().starts_with('~') {
                // The rest of the key is a value: its messages are rendered by the tests of the page or mail.
                assert!(COMPOSED.iter().any(|start| key.starts_with(start)), "{}: {key} …", path.display());
                continue;
            }
            let Some(message) = ENGLISH.0.get(key) else { panic!("{}: no message {key}", path.display()) };
            for name in arguments(message) {
                assert!(rest.contains(&format!("{name}=")), "{}: {key} without {name}", path.display());
            }
            let counts = matches!(message, Message::Counted { .. });
            assert!(!counts || rest.contains("count="), "{}: {key} without count", path.display());
            seen += 1;
        }
    }
    assert!(seen > 200, "{seen} calls");
    for (path, source) in sources().iter().filter(|(path, _)| path.extension().is_some_and(|end| end == "rs")) {
        for call in ["say(\"", "say_with(\""] {
            for (at, _) in source.match_indices(call) {
                let key = source[at + call.len()..].split('"').next().unwrap();
                assert!(ENGLISH.0.contains_key(key), "{}: no message {key}", path.display());
            }
        }
    }
}

#[test]
fn messages_stand_in_attributes_and_their_markup_is_closed() {
    for language in Language::ALL {
        for (key, message) in &language.catalogue().0 {
            let patterns = match message {
                Message::Plain(pattern) => vec![pattern],
                Message::Counted { one, other } => one.iter().chain([other]).collect(),
            };
            for pattern in patterns {
                let has_markup = pattern.contains('<');
                assert!(has_markup || !pattern.contains(['"', '>']), "{key} in {}", language.code());
                assert_eq!(pattern.matches("</").count() * 2, pattern.matches('<').count(), "{key}: {pattern}");
                assert!(!pattern.contains('&'), "{key} in {}", language.code());
            }
        }
    }
}

#[test]
fn message_counts_and_takes_arguments() {
    assert_eq!(Language::English.say_with("status.votes", &[("count", &1)]), "1 vote");
    assert_eq!(Language::English.say_with("status.votes", &[("count", &0)]), "0 votes");
    assert_eq!(Language::German.say_with("status.votes", &[("count", &2)]), "2 Stimmen");
    assert_eq!(Language::Japanese.say_with("status.votes", &[("count", &1)]), "1 票");
}

#[test]
fn errors_of_services_are_translated() {
    let short = "is too short (minimum is 8 characters)";
    assert_eq!(Language::German.say_error(short).unwrap(), "Das ist zu kurz (mindestens 8 Zeichen).");
    assert_eq!(Language::Japanese.say_error("can't be blank").unwrap(), "入力してください。");
    assert_eq!(Language::German.say_error("was never said"), None);
    assert_eq!(Language::English.say_error(short), None);
}

#[test]
fn dates_and_numbers_match_the_language() {
    let time = DateTime::parse_from_rfc3339("2026-03-05T08:09:00Z").unwrap().to_utc();
    assert_eq!(Language::English.minute(&time), "5 Mar 2026, 08:09 UTC");
    assert_eq!(Language::German.minute(&time), "5. März 2026, 08:09 UTC");
    assert_eq!(Language::Japanese.minute(&time), "2026年3月5日 08:09 UTC");
    assert_eq!(Language::German.month(&time), "März 2026");
    assert_eq!(Language::English.number(-1_000_000), "-1,000,000");
    assert_eq!(Language::German.number(91_202), "91.202");
    assert_eq!(Language::English.number(0), "0");
}

#[test]
fn language_is_found_by_tag_and_preference() {
    assert_eq!(Language::of("de-AT"), Some(Language::German));
    assert_eq!(Language::of("fr"), None);
    assert_eq!(Language::accepted("fr, ja;q=0.5, en;q=0.1"), Some(Language::Japanese));
    assert_eq!(Language::accepted("fr"), None);
}
