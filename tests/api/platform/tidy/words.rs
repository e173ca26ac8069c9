//! The English of the project: how many turns of phrase it has that codebases of this field do not use.
//!
//! Counted are comments, sentences in string literals, names of tests, and guides. `docs/style.md#words` lists the habits and
//! the better forms.

use std::collections::BTreeMap;
use std::path::Path;

use super::names::names;
use super::{File, LAYERS, files, guides};

/// The most markers per 1,000 words.
const MOST: usize = 3;

/// Rooms with more markers per 1,000 words, rounded up: entries only shrink.
const EXCEPTIONS: &[(&str, usize)] = &[];

/// Sequences of words; each position lists its alternatives.
const MARKERS: &[&[&[&str]]] = &[
    &[
        &["what"],
        &[
            "is", "was", "are", "were", "it", "a", "an", "the", "they", "he", "she", "one", "somebody", "nobody",
            "its", "their",
        ],
    ],
    &[&["whoever", "whom", "nobody", "somebody", "anybody"]],
    &[&["that", "those"], &["of"]],
    &[&["those"], &["that", "who"]],
    &[&["told", "hear", "hears", "anew", "stands", "mend", "mends", "mended", "mending"]],
    &[&["tell", "tells"], &["of"]],
    &[&["by"], &["now"]],
    &[&["no"], &["more"]],
    &[&["of"], &["before"]],
    &[&["at"], &["once"]],
    &[&["made"], &["of"]],
    &[&["of"], &["theirs"]],
    &[&["of"], &["its"], &["own"]],
];

/// First words of literals that are SQL.
const SQL: &[&str] = &[
    "select", "insert", "update", "delete", "with", "create", "alter", "drop", "exists", "and", "or", "from", "where",
    "order",
];

/// Words and markers of some texts.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    words: usize,
    markers: usize,
}

impl Count {
    fn add(&mut self, text: &str) {
        let words = words(text);
        self.words += words.len();
        self.markers +=
            (0..words.len()).filter(|at| MARKERS.iter().any(|marker| matches(&words[*at..], marker))).count();
    }

    /// Markers per 1,000 words, rounded up.
    fn rate(self) -> usize {
        (self.markers * 1_000).div_ceil(self.words.max(1))
    }
}

fn words(text: &str) -> Vec<String> {
    let split = text.split(|c: char| !c.is_ascii_alphabetic() && c != '\'');
    let plain = |word: &str| word.trim_matches('\'').trim_end_matches("'s").to_ascii_lowercase();
    split.map(plain).filter(|word| !word.is_empty()).collect()
}

fn matches(words: &[String], marker: &[&[&str]]) -> bool {
    words.len() >= marker.len() && marker.iter().zip(words).all(|(any, word)| any.contains(&word.as_str()))
}

/// The comments of a source file, adjacent lines together, and with `literals` the sentences in its string literals.
fn prose(text: &str, literals: bool) -> Vec<String> {
    let (mut found, mut comment) = (Vec::new(), String::new());
    for line in text.lines() {
        let (code, own) = split_comment(line);
        match own {
            Some(own) if code.trim().is_empty() => {
                comment.push(' ');
                comment.push_str(own);
                continue;
            }
            Some(own) => found.push(own.to_owned()),
            None => {}
        }
        found.extend(Some(std::mem::take(&mut comment)).filter(|comment| !comment.is_empty()));
        if literals {
            // Every second part between quotation marks is a literal; escaped marks are not counted.
            let code = code.replace("\\\"", " ");
            found.extend(code.split('"').skip(1).step_by(2).filter(|literal| is_sentence(literal)).map(str::to_owned));
        }
    }
    found.extend(Some(comment).filter(|comment| !comment.is_empty()));
    found
}

/// A line without its comment, and the comment.
fn split_comment(line: &str) -> (&str, Option<&str>) {
    let start =
        line.match_indices("//").map(|(at, _)| at).find(|at| line[..*at].matches('"').count().is_multiple_of(2));
    match start {
        Some(at) => (&line[..at], Some(line[at..].trim_start_matches(['/', '!']))),
        None => (line, None),
    }
}

fn is_sentence(literal: &str) -> bool {
    let words = words(literal);
    literal.matches(' ').count() >= 2 && words.first().is_some_and(|first| !SQL.contains(&first.as_str()))
}

/// The text of a guide without its code.
fn guide(text: &str) -> String {
    let blocks = text.split("```").step_by(2);
    blocks.flat_map(|block| block.split('`').step_by(2)).collect::<Vec<_>>().join(" ")
}

fn count(file: &File, count: &mut Count) {
    if Path::new(&file.path).extension().is_some_and(|extension| extension == "md") {
        return count.add(&guide(&file.text));
    }
    prose(&file.text, !file.path.starts_with("tests/")).iter().for_each(|text| count.add(text));
    names(&file.text).into_iter().for_each(|name| count.add(&name.replace('_', " ")));
}

#[test]
fn foreign_turns_of_phrase_are_rare() {
    let mut rooms: Vec<(String, String)> =
        LAYERS.iter().map(|layer| ((*layer).to_owned(), format!("src/{layer}"))).collect();
    rooms.extend(["plugin-sdk", "plugins", "examples", "tests"].map(|folder| (folder.to_owned(), folder.to_owned())));
    let listed: BTreeMap<&str, usize> = EXCEPTIONS.iter().copied().collect();
    let mut wrong = Vec::new();
    let mut judge = |room: &str, count: Count| {
        let (rate, may) = (count.rate(), listed.get(room).copied().unwrap_or(MOST));
        if rate > may {
            let Count { words, markers } = count;
            wrong.push(format!("{room}: {rate} per 1,000 words, and not {may} ({markers} markers in {words} words)"));
        } else if rate < may && listed.contains_key(room) {
            wrong.push(format!("{room}: only {rate} per 1,000 words; enter that instead of {may}, or nothing"));
        }
    };
    for (room, folder) in &rooms {
        let mut found = Count::default();
        files(folder).iter().for_each(|file| count(file, &mut found));
        judge(room, found);
    }
    let mut found = Count::default();
    guides().iter().for_each(|file| count(file, &mut found));
    judge("guides", found);
    assert!(wrong.is_empty(), "plain English, docs/style.md#words:\n  {}", wrong.join("\n  "));
}

#[test]
fn markers_are_counted_in_comments_sentences_and_names() {
    let text = "/// What is\n/// told.\nfn a() { b(\"SELECT what is it\"); c(\"the one that of old\", \"what is\"); } // by now\n";
    let of = |literals: bool| {
        let mut count = Count::default();
        prose(text, literals).iter().for_each(|text| count.add(text));
        count.markers
    };
    assert_eq!((of(false), of(true)), (3, 4));
    let mut count = Count::default();
    count.add("nobody's, and those-that");
    assert_eq!((count.words, count.markers), (4, 2));
    assert_eq!(words(&guide("a `what is` b\n```\nwhat is\n```\nc")), ["a", "b", "c"]);
}
