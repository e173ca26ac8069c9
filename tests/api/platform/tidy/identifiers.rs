//! The words of identifiers: those that codebases of this field do not use have a count that only shrinks.
//!
//! docs/style.md#words has the better ones: `response`, `requested`, `received`, `sent`, `output`. The words of the
//! contract are not ours to change: `answer` of the plugins' interface.

use super::files;

/// A word, and how often it is a word of an identifier below `src`.
const WORDS: &[(&str, usize)] =
    &[("said", 0), ("told", 0), ("heard", 0), ("asked", 161), ("wanted", 379), ("answer", 316)];

#[test]
fn foreign_words_in_identifiers_only_shrink() {
    let mut counts = vec![0; WORDS.len()];
    let mut places = Vec::new();
    for file in files("src") {
        for (number, line) in file.code.lines().enumerate() {
            for word in words(line) {
                let Some(at) = WORDS.iter().position(|(foreign, _)| *foreign == word) else { continue };
                counts[at] += 1;
                if WORDS[at].1 == 0 {
                    places.push(format!("{}:{}: {word}", file.path, number + 1));
                }
            }
        }
    }
    let wrong: Vec<String> = WORDS
        .iter()
        .zip(&counts)
        .filter(|((_, may), count)| may != *count)
        .map(|((word, may), count)| format!("{word}: {count}, and not {may}"))
        .collect();
    assert!(wrong.is_empty(), "words of identifiers:\n  {}\n  {}", wrong.join("\n  "), places.join("\n  "));
}

/// The words of the identifiers in a line of code, in lower case: of `saidBefore` and `was_said`, `said` is one.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in line.chars() {
        if !c.is_ascii_alphanumeric() || c.is_ascii_uppercase() {
            words.push(String::new());
        }
        if c.is_ascii_alphanumeric() {
            words.last_mut().expect("is not empty").push(c.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn identifiers_are_split_into_words() {
    assert_eq!(words("let was_said: SaidBefore = said2(x);"), ["let", "was", "said", "said", "before", "said2", "x"]);
}
