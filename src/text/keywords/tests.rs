//! Keyword matches in texts, compared with a naive search at every position.

use proptest::prelude::*;

use super::*;

/// The match of `keyword` in `text`.
fn find(text: &str, keyword: &str, whole_word: bool) -> Option<String> {
    let keywords = Keywords::compile([Keyword { text: keyword, whole_word, group: 0 }]).unwrap();
    keywords.find(&Searchable::new(text)).first().map(|found| found.text.to_owned())
}

#[track_caller]
fn finds(text: &str, keyword: &str, whole_word: bool, wanted: Option<&str>) {
    assert_eq!(find(text, keyword, whole_word).as_deref(), wanted, "{keyword:?} in {text:?}");
}

#[test]
fn case_is_ignored_in_every_script() {
    for (text, keyword, wanted) in [
        ("A Rook's nest", "rOOk", "Rook"),
        ("Große STRASSE", "straße", "STRASSE"),
        ("STRAẞE", "strasse", "STRAẞE"),
        ("Οδυσσεύς", "ΟΔΥΣΣΕΎΣ", "Οδυσσεύς"),
        ("ПРИВЕТ", "привет", "ПРИВЕТ"),
        ("İstanbul", "i\u{307}stanbul", "İstanbul"),
        ("cafe\u{301}", "CAFÉ", "café"),
        ("ﬁsh", "FISH", "ﬁsh"),
        ("a\u{212A}", "k", "\u{4b}"),
    ] {
        finds(text, keyword, false, Some(wanted));
    }
    finds("ılık", "i", false, None);
}

#[test]
fn keyword_is_part_of_a_word_unless_whole() {
    finds("scathing", "cat", false, Some("cat"));
    finds("scathing cats", "cat", true, None);
    finds("a cat, and", "cat", true, Some("cat"));
    finds("snake_cat", "cat", true, None);
    finds("cat2", "cat", true, None);
    finds("example.com", "example", true, Some("example"));
    finds("don't", "don", true, Some("don"));
    finds("scathing CAT", "cat", true, Some("CAT"));
}

#[test]
fn side_that_is_no_word_needs_no_boundary() {
    finds("so #cats", "#cat", true, None);
    finds("so#cat", "#cat", true, Some("#cat"));
    finds("word:(word", ":(", true, Some(":("));
    finds("a🐦b", "🐦", true, Some("🐦"));
    finds("cafe\u{301}s x\u{323}", "x", true, None);
}

#[test]
fn emoji_is_a_whole_word_inside_a_word() {
    for emoji in ["🅱\u{fe0f}", "🅱", "❤\u{fe0f}", "1\u{fe0f}\u{20e3}", "Ⓜ\u{fe0f}", "👩\u{200d}👧", "🇯🇵", "🈁"]
    {
        finds(&format!("a{emoji}b"), emoji, true, Some(emoji));
        finds(&format!("{emoji}cat{emoji}"), "cat", true, Some("cat"));
    }
    finds("a1b", "1", true, None);
}

#[test]
fn scripts_without_spaces_have_whole_words() {
    finds("黒猫が好き", "猫", true, Some("猫"));
    finds("クロネコ便", "ネコ", true, None);
    finds("黒ネコが", "ネコ", true, Some("ネコ"));
    finds("AI技術", "ai", true, Some("AI"));
    finds("ฉันรักแมวมาก", "แมว", true, Some("แมว"));
    finds("แมว\u{e48}", "แมว", true, None);
    finds("한국어는", "한국어", true, None);
    finds("한국어 는", "한국어", true, Some("한국어"));
}

#[test]
fn each_group_finds_its_first_match() {
    let keyword = |text, whole_word, group| Keyword { text, whole_word, group };
    let keywords = Keywords::compile([
        keyword("nest", false, 4),
        keyword("rook", true, 4),
        keyword("ROOK", false, 2),
        keyword("concatenate", false, 1),
        keyword("cat", false, 1),
        keyword("", false, 3),
    ])
    .unwrap();
    let text = Searchable::new("Rooks: concatenate the nest of a rook");
    let found: Vec<(usize, &str)> = keywords.find(&text).iter().map(|found| (found.group, found.text)).collect();
    assert_eq!(found, [(1, "concatenate"), (2, "Rook"), (4, "nest")]);
    assert!(Keywords::compile([]).unwrap().find(&text).is_empty());
}

/// The first match, found by trying every keyword at every position.
fn naive(text: &Searchable, keywords: &[(String, bool, usize)], group: usize) -> Option<String> {
    let places = text.folded.char_indices().map(|(at, _)| at);
    let at = |start: usize| {
        keywords.iter().filter(|(_, _, of)| *of == group).find_map(|(keyword, whole, _)| {
            let folded = fold(&keyword.nfc().collect::<String>());
            let end = start + folded.len();
            let here = !folded.is_empty() && text.folded[start..].starts_with(&folded);
            (here && (!whole || is_whole(&text.folded, start, end))).then(|| text.original(start, end).to_owned())
        })
    };
    places.into_iter().find_map(at)
}

proptest! {
    #[test]
    fn single_pass_matches_naive_search(
        text in "[abAßsS猫ネコé\u{301} _.]{0,40}",
        keywords in prop::collection::vec(("[abAßs猫ネコé .]{0,4}", any::<bool>(), 0_usize..3), 0..8),
    ) {
        let text = Searchable::new(&text);
        let compiled = keywords.iter().map(|(text, whole_word, group)| Keyword { text, whole_word: *whole_word, group: *group });
        let compiled = Keywords::compile(compiled).unwrap();
        let found = compiled.find(&text);
        for group in 0..3 {
            let one = found.iter().find(|found| found.group == group).map(|found| found.text.to_owned());
            prop_assert_eq!(one, naive(&text, &keywords, group));
        }
    }

    #[test]
    fn any_text_is_searched(text in ".{0,200}", keyword in ".{0,20}", whole_word: bool) {
        if let Some(found) = find(&text, &keyword, whole_word) {
            let text: String = text.nfc().collect();
            prop_assert!(!found.is_empty() && text.contains(&found));
        }
    }
}
