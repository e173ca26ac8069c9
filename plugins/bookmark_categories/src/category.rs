//! What a category is, apart from where it is kept.

use rookery_plugin::prelude::*;

/// The longest title, in characters.
pub(crate) const TITLE_MAX: u32 = 256;

/// `BookmarkCategory`, as it is kept and shown.
#[derive(Clone, Debug, PartialEq, Row, Serialize)]
pub(crate) struct Category {
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

/// What is bookmarked for each status: a reblog's original. `None` when one of them is missing or hidden.
pub(crate) fn originals(statuses: &[Option<Status>]) -> Option<Vec<i64>> {
    statuses.iter().map(|status| status.as_ref().map(|status| status.reblog_of.unwrap_or(status.id))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_says_something_and_stays_as_it_is() {
        assert_eq!(title(" Birds ".into()), Ok(" Birds ".into()));
        assert!(title(" \t".into()).is_err() && title(String::new()).is_err());
        assert!(title("猫".repeat(256)).is_ok() && title("猫".repeat(257)).is_err());
    }
}
