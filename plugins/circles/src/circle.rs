//! What a circle is, apart from where it is kept.

use std::collections::BTreeSet;

use rookery_plugin::prelude::*;

/// The longest title, in characters.
pub(crate) const TITLE_MAX: u32 = 256;

/// `Circle`, as it is kept and shown.
#[derive(Clone, Debug, PartialEq, Row, Serialize)]
pub(crate) struct Circle {
    pub(crate) id: Id,
    pub(crate) title: String,
}

/// A title that says something, and not too much.
///
/// # Errors
/// [`Error::Invalid`] for a blank one and a long one.
pub(crate) fn title(title: String) -> Result<String> {
    if title.trim().is_empty() {
        return Err(Error::invalid("Validation failed: Title can't be blank"));
    }
    if title.chars().count() > TITLE_MAX as usize {
        let why = format!("Validation failed: Title is too long (maximum is {TITLE_MAX} characters)");
        return Err(Error::invalid(why));
    }
    Ok(title)
}

/// All of `ids` were added, each once, when that made so many rows. Nobody is added who does not follow.
///
/// # Errors
/// [`Error::NotFound`] when someone was left out, [`Error::Invalid`] when somebody was named twice.
pub(crate) fn check_added(ids: &[i64], rows: u64) -> Result<()> {
    let distinct = ids.iter().collect::<BTreeSet<_>>().len();
    if u64::try_from(distinct).ok() != Some(rows) {
        return Err(Error::NotFound);
    }
    if distinct < ids.len() { Err(in_it_already()) } else { Ok(()) }
}

pub(crate) fn in_it_already() -> Error {
    Error::invalid("Validation failed: The account is in this circle already")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_says_something_and_stays_as_it_is() {
        assert_eq!(title(" Rooks ".into()), Ok(" Rooks ".into()));
        assert!(title(" \t".into()).is_err() && title(String::new()).is_err());
        assert!(title("猫".repeat(256)).is_ok() && title("猫".repeat(257)).is_err());
    }
}
