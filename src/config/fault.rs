//! Configuration errors: all are reported together, each with its key, its location and the valid values.

use std::fmt;
use std::path::{Path, PathBuf};

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The default; not set anywhere.
    Default,
    /// A line of the configuration file, counted from 1.
    Line(PathBuf, usize),
    /// An environment variable.
    Variable(String),
    /// The contents of a secret's file, which another origin names.
    SecretFile(PathBuf, Box<Origin>),
}

impl Origin {
    /// The folder that relative paths of it are below: that of the configuration file; empty for the working directory.
    pub(super) fn folder(&self) -> &Path {
        match self {
            Self::Line(file, _) => file.parent().unwrap_or(file),
            Self::SecretFile(_, named) => named.folder(),
            Self::Default | Self::Variable(_) => Path::new(""),
        }
    }
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

/// One configuration error. Never contains the value of a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// `section.name`, or the unknown name that was found; empty when the fault is not in a single key.
    pub key: String,
    /// The error, and the valid values.
    pub problem: String,
    /// The source of the invalid value, if known.
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

/// All configuration errors, in the order in which they were found; never empty.
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

/// The candidate with the smallest edit distance to `word`, if it is small enough for a likely typo.
pub fn nearest(word: &str, candidates: impl Iterator<Item = String>) -> Option<String> {
    let (distance, nearest) =
        candidates.map(|candidate| (distance(word, &candidate), candidate)).min_by_key(|(distance, _)| *distance)?;
    (distance <= word.len() / 3 + 1).then_some(nearest)
}

/// Levenshtein distance: the number of letters inserted, deleted or replaced.
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
