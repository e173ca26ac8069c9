//! What a category is, apart from where it is kept.

use rookery_plugin::prelude::*;

/// The longest title, in characters.
const TITLE_MAX: usize = 256;

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
    if title.chars().count() > TITLE_MAX {
        let why = format!("Validation failed: Title is too long (maximum is {TITLE_MAX} characters)");
        return Err(Error::invalid(why));
    }
    Ok(title)
}

/// The ids that a client sent; `None` when one is none.
pub(crate) fn all_ids(sent: &[String]) -> Option<Vec<i64>> {
    sent.iter().map(|id| id.parse().ok()).collect()
}

/// The ids among what a client sent.
pub(crate) fn known_ids(sent: &[String]) -> Vec<i64> {
    sent.iter().filter_map(|id| id.parse().ok()).collect()
}

/// What is bookmarked for each status: a reblog's original. `None` when one of them is missing or hidden.
pub(crate) fn originals(statuses: &[Option<Status>]) -> Option<Vec<i64>> {
    statuses.iter().map(|status| status.as_ref().map(|status| status.reblog_of.unwrap_or(status.id))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(ids: &[&str]) -> Vec<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    #[test]
    fn a_title_says_something_and_stays_as_it_is() {
        assert_eq!(title(" Birds ".into()), Ok(" Birds ".into()));
        assert!(title(" \t".into()).is_err() && title(String::new()).is_err());
        assert!(title("猫".repeat(256)).is_ok() && title("猫".repeat(257)).is_err());
    }

    #[test]
    fn one_wrong_id_spoils_a_filing_and_no_removal() {
        let sent = texts(&["1", "x", "2"]);
        assert_eq!((all_ids(&sent), known_ids(&sent)), (None, vec![1, 2]));
        assert_eq!(all_ids(&texts(&["1", "2"])), Some(vec![1, 2]));
        assert_eq!(all_ids(&[]), Some(vec![]));
    }
}
