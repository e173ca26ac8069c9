//! The counters of a status, and what its viewer did with it.

use context::json::{Object, boolean};
use service::visibility::Marked;
use store::status::Head;

pub(super) fn add_counts(object: &mut Object, head: &Head) {
    object
        .number("replies_count", head.replies_count)
        .number("reblogs_count", head.reblogs_count)
        .number("favourites_count", head.favourites_count)
        .number("status_referred_by_count", head.referred_by_count)
        .number("quotes_count", head.quotes_count);
}

pub(super) fn add_marks(object: &mut Object, marked: Marked, filtered: &str) {
    object
        .member("favourited", boolean(marked.favourited))
        .member("reblogged", boolean(marked.reblogged))
        .member("muted", boolean(marked.muted))
        .member("bookmarked", boolean(marked.bookmarked))
        .member("filtered", filtered);
}
