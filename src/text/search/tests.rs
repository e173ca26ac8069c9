//! Tests which words match in which texts, and how queries are parsed.

use proptest::prelude::*;

use super::*;

fn found(text: &str, words: &str) -> bool {
    let (text, phrase) = (Text::new([text]), Phrase::new(words).expect("words"));
    let found = text.contains(&phrase);
    assert!(!found || phrase.terms().is_subset(&text.terms()), "the index has what the text has");
    found
}

fn read(query: &str) -> Vec<Clause> {
    parse(query).expect("a query")
}

#[test]
fn words_are_found_whole_in_scripts_with_spaces() {
    assert!(found("The quick, brown fox.", "QUICK"));
    assert!(!found("The quick, brown fox.", "qui"));
    assert!(found("Crème brûlée", "creme brulee"));
    assert!(found("Straße", "STRASSE"));
    assert!(found("Ёлка", "елка"));
    assert!(found("#Rookery is @home", "rookery"));
}

#[test]
fn words_of_two_characters_are_found_in_scripts_without_spaces() {
    for (text, word) in
        [("今日は東京タワーへ", "東京"), ("我喜欢北京烤鸭", "北京"), ("ฉันรักแมวมาก", "แมว"), ("검색은 쉽다", "검색")]
    {
        assert!(found(text, word), "{word}");
    }
    assert!(found("猫が好き", "猫") && found("ﾈｺが好き", "ネコ"));
    assert!(!found("今日は東京タワーへ", "京都"));
    assert!(found("東京2020大会", "2020") && found("東京2020大会", "東京2020"));
}

#[test]
fn phrases_are_found_in_order_and_within_a_part() {
    assert!(found("one two three", "two three") && !found("one two three", "three two"));
    assert!(!found("東京 大会", "東京大会"));
    let parts = Text::new(["one two", "three"]);
    assert!(!parts.contains(&Phrase::new("two three").expect("words")));
    assert!(Phrase::new("!? ...").is_none());
}

#[test]
fn queries_are_read_from_left_to_right() {
    let words = |text: &str, negated| Clause { negated, kind: Kind::Words(Phrase::new(text).expect("words")) };
    let operator = |name: &str, value: &str, negated| Clause {
        negated,
        kind: Kind::Operator { name: name.to_owned(), value: value.to_owned() },
    };
    assert_eq!(read("one +two -three"), [words("one", false), words("two", false), words("three", true)]);
    assert_eq!(read("“one two” -\"three four"), [words("one two", false), words("three four", true)]);
    assert_eq!(read("from:@a@b.c -has:image"), [operator("from", "@a@b.c", false), operator("has", "image", true)]);
    assert_eq!(
        read("https://a.b/c at: 12:30"),
        [words("https a b c", false), words("at", false), words("12 30", false)]
    );
    assert_eq!(read(" !! - + \" "), []);
    assert_eq!(parse(&"a ".repeat(MAX_CLAUSES + 1)), Err(TooLong));
}

proptest! {
    #[test]
    fn any_text_is_cut_and_any_query_read(text in "\\PC{0,200}") {
        let prepared = Text::new([text.as_str()]);
        let _ = parse(&text);
        if let Some(phrase) = Phrase::new(&text) {
            prop_assert!(prepared.contains(&phrase), "{prepared:?} {phrase:?}");
            prop_assert!(phrase.terms().is_subset(&prepared.terms()));
        }
    }

    #[test]
    fn part_of_a_text_is_found_in_it(words in prop::collection::vec("[a-zé]{1,6}|[東京大阪あいう]{1,4}", 1..12), from in 0usize..12) {
        let from = from.min(words.len() - 1);
        let phrase = Phrase::new(&words[from..].join(" ")).expect("words");
        let text = Text::new([words.join(" ").as_str()]);
        prop_assert!(text.contains(&phrase), "{text:?} {phrase:?}");
        prop_assert!(phrase.terms().is_subset(&text.terms()));
    }
}
