//! What is wrong with a configuration: all of it at once, each fault with its key, its place and what would be right.

use std::{fmt, path::PathBuf};

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody said anything.
    Default,
    /// A line of the configuration file, counted from 1.
    Line(PathBuf, usize),
    /// An environment variable.
    Variable(String),
    /// The contents of a file that another origin names.
    SecretFile(PathBuf, Box<Origin>),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Line(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Variable(name) => f.write_str(name),
            Self::SecretFile(path, named_by) => write!(f, "{}, named by {named_by}", path.display()),
        }
    }
}

/// One thing that is wrong. Never holds the value of a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// `section.name`, or what stood in its place; empty when the fault is in no one key.
    pub key: String,
    /// What is wrong, and what would be right.
    pub problem: String,
    /// Where it stands, when it stands anywhere.
    pub origin: Option<Origin>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.problem)?;
        match &self.origin {
            Some(origin) => write!(f, " ({origin})"),
            None => Ok(()),
        }
    }
}

/// Everything that is wrong, in the order in which it was met; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Faults(pub Vec<Fault>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [fault] => write!(f, "the configuration has a fault:\n  {fault}"),
            faults => {
                write!(f, "the configuration has {} faults:", faults.len())?;
                faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
            }
        }
    }
}

/// The candidate that takes the fewest changed letters to become `word`, if it takes few enough to be meant.
pub(crate) fn nearest(word: &str, candidates: impl Iterator<Item = String>) -> Option<String> {
    let (distance, nearest) =
        candidates.map(|candidate| (distance(word, &candidate), candidate)).min_by_key(|(distance, _)| *distance)?;
    (distance <= word.len() / 3 + 1).then_some(nearest)
}

/// Levenshtein's distance: letters inserted, deleted or replaced.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_changed_letters() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("listen", "listen"), 0);
        assert_eq!(distance("lisen", "listen"), 1);
    }

    #[test]
    fn only_what_may_be_meant_is_suggested() {
        let nearest = |word| nearest(word, ["server.listen", "log.level"].map(String::from).into_iter());
        assert_eq!(nearest("server.lisen").as_deref(), Some("server.listen"));
        assert_eq!(nearest("telemetry"), None);
    }
}
