//! The quote of a status as its viewer sees it.
//!
//! Reached from [`visibility`](super) alone. Spec: <https://docs.joinmastodon.org/entities/Quote/>.

use super::view::{Marked, Place, View, is_own, may_see, tie};
use crate::heads;
use context::Cx;
use context::error::Result;
use model::{Actor, QuoteState, StatusId, text_enum};
use store::status::Head;

text_enum! {
    /// The state of a quote for its viewer: <https://docs.joinmastodon.org/entities/Quote/>.
    ShownState {
        Pending = "pending",
        Accepted = "accepted",
        Rejected = "rejected",
        Revoked = "revoked",
        Deleted = "deleted",
        /// The viewer may not see the quoted status.
        Unauthorized = "unauthorized",
        /// The viewer blocks the author of the quoted status.
        BlockedAccount = "blocked_account",
        /// The viewer blocks the domain of its author.
        BlockedDomain = "blocked_domain",
        /// The viewer mutes its author.
        MutedAccount = "muted_account",
    }
}

/// The quote of a status as its viewer sees it.
#[derive(Clone, Copy, Debug)]
pub struct QuoteView {
    pub state: ShownState,
    /// `None` when it is hidden.
    pub quoted: Option<Quoted>,
}

/// The quote of a quoted status, of which only the id is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ShallowQuote {
    pub state: ShownState,
    /// `None` when it is hidden.
    pub quoted: Option<StatusId>,
}

/// A quoted status that the viewer of the quoting status may see as well.
#[derive(Clone, Copy, Debug)]
pub struct Quoted {
    /// The quoted status.
    pub head: Head,
    /// The viewer's interactions with it.
    pub marked: Marked,
    /// Whether the viewer muted its conversation or author, or blocks the author or their domain.
    pub muted: bool,
    /// Its own quote.
    pub quote: Option<ShallowQuote>,
}

/// `heads`, the heads of their quotes and of the quotes of those, ordered by id. A statement for each of the two, or none
/// without quotes.
pub(super) async fn with_quoted(cx: &Cx, mut heads: Vec<Head>) -> Result<Vec<Head>> {
    for _ in 0..2 {
        let mut quoted: Vec<StatusId> = heads.iter().filter_map(Head::quoted).collect();
        quoted.retain(|id| find(&heads, *id).is_none());
        if quoted.is_empty() {
            return Ok(heads);
        }
        quoted.sort_unstable();
        quoted.dedup();
        heads.extend(heads::find(cx, &quoted).await?);
        heads.sort_unstable_by_key(|head| head.id);
        heads.dedup_by_key(|head| head.id);
    }
    Ok(heads)
}

/// The quote of `quoting` as `viewer` sees it, in any place; `heads` contains the quoted status, unless it is gone.
pub(super) fn show_quote(
    cx: &Cx,
    viewer: Option<&Actor>,
    view: Option<&View>,
    heads: &[Head],
    quoting: &Head,
) -> Option<QuoteView> {
    let (state, head) = quote_state(cx, viewer, view, heads, quoting)?;
    let quoted = head.map(|head| {
        let tie = tie(cx, view, head);
        let marked = view.map_or_else(Marked::default, |view| view.marked(head));
        let muted = marked.muted || tie.blocking || tie.domain_blocking || tie.muting;
        let quote = quote_state(cx, viewer, view, heads, head)
            .map(|(state, quoted)| ShallowQuote { state, quoted: quoted.map(|head| head.id) });
        Quoted { head: *head, marked, muted, quote }
    });
    Some(QuoteView { state, quoted })
}

/// The state of the quote of `quoting`, and the quoted status unless it is hidden.
fn quote_state<'h>(
    cx: &Cx,
    viewer: Option<&Actor>,
    view: Option<&View>,
    heads: &'h [Head],
    quoting: &Head,
) -> Option<(ShownState, Option<&'h Head>)> {
    let hidden = |state| Some((state, None));
    match quoting.quote_state? {
        QuoteState::Pending => return hidden(ShownState::Pending),
        QuoteState::Rejected => return hidden(ShownState::Rejected),
        QuoteState::Revoked => return hidden(ShownState::Revoked),
        QuoteState::Deleted => return hidden(ShownState::Deleted),
        QuoteState::Accepted => {}
    }
    let Some(head) = quoting.quote_id.and_then(|id| find(heads, id)) else { return hidden(ShownState::Deleted) };
    let tie = tie(cx, view, head);
    if !may_see(viewer, head, &tie, Place::Single) {
        return hidden(ShownState::Unauthorized);
    }
    let state = if is_own(viewer, head) {
        ShownState::Accepted
    } else if tie.blocking {
        ShownState::BlockedAccount
    } else if tie.domain_blocking {
        ShownState::BlockedDomain
    } else if tie.muting {
        ShownState::MutedAccount
    } else {
        ShownState::Accepted
    };
    Some((state, Some(head)))
}

/// The head of `id` among `heads`, which are ordered by id.
pub(super) fn find(heads: &[Head], id: StatusId) -> Option<&Head> {
    heads.binary_search_by_key(&id, |head| head.id).ok().map(|index| &heads[index])
}
