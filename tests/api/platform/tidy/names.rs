//! The names of tests: the subject comes first, so that `cargo test favourite` finds the tests of favourites.

use super::files;

/// First words of a name that is not a subject: articles and pronouns.
const NO_SUBJECT: &[&str] = &[
    "a",
    "an",
    "the",
    "what",
    "whatever",
    "who",
    "whoever",
    "whom",
    "nobody",
    "somebody",
    "someone",
    "nothing",
    "everybody",
    "everyone",
    "everything",
    "anybody",
    "anyone",
    "anything",
];

/// The names of the tests in a file: of the functions that follow the attribute.
pub(super) fn names(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut test = false;
    for line in text.lines().map(str::trim_start) {
        test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
        let name = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ");
        if let Some(name) = name.filter(|_| test) {
            names.push(name.split('(').next().unwrap_or(name));
            test = false;
        }
    }
    names
}

#[test]
fn test_names_begin_with_their_subject() {
    assert_eq!(
        names("#[test]\nfn one() {\n    fn inner() {}\n}\n    #[tokio::test]\n    async fn two() {}"),
        ["one", "two"]
    );
    let mut wrong = Vec::new();
    for file in ["src", "tests/api"].into_iter().flat_map(files) {
        for name in names(&file.text) {
            if NO_SUBJECT.contains(&name.split('_').next().unwrap_or(name)) {
                wrong.push(format!("{}: {name}", file.path));
            }
        }
    }
    assert!(wrong.is_empty(), "a test's name begins with its subject (docs/style.md):\n  {}", wrong.join("\n  "));
}
