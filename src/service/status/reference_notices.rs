//! A status that refers to others, and the notifications of their authors.
//!
//! Reached from [`reference`](super::reference) alone.

use crate::notification;
use context::Cx;
use context::error::Result;
use context::extension::Notice;
use database::Tx;
use model::{AccountId, NotificationType, Status, StatusId, Visibility};
use store::reference::{Quote, ReferenceRow};

/// A status that may refer to others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Referring {
    pub(super) id: StatusId,
    pub(super) author: AccountId,
    pub(super) visibility: Visibility,
    pub(super) has_references: bool,
    pub(super) quote: Option<Quote>,
}

impl From<&Status> for Referring {
    fn from(status: &Status) -> Self {
        Self {
            id: status.id,
            author: status.account_id,
            visibility: status.visibility,
            has_references: status.has_references,
            quote: quote_of(status),
        }
    }
}

/// The quote of `status`.
pub(super) fn quote_of(status: &Status) -> Option<Quote> {
    Some(Quote { target: status.quote_id?, state: status.quote_state? })
}

/// Notifies the referenced authors who may see the status, each once: of the quote, or of a reference.
pub(super) async fn notify(
    cx: &Cx,
    tx: &mut Tx,
    status: Referring,
    new: &[(ReferenceRow, AccountId)],
    quote: Option<Quote>,
    audience: &[AccountId],
) -> Result<()> {
    let mut receivers: Vec<AccountId> = new.iter().map(|(_, author)| *author).collect();
    receivers.sort_unstable();
    receivers.dedup();
    let followers = match status.visibility {
        Visibility::Private => store::follow::list_followers_among(&mut *tx, status.author, &receivers).await?,
        Visibility::Public
        | Visibility::PublicUnlisted
        | Visibility::Login
        | Visibility::Unlisted
        | Visibility::Limited
        | Visibility::Direct => Vec::new(),
    };
    let open = status.visibility.is_anonymous() || status.visibility == Visibility::Login;
    receivers.retain(|account| open || followers.contains(account) || audience.contains(account));
    let quoted = |row: &ReferenceRow| quote.filter(|quote| quote.target == row.target_id);
    let first = |receiver: &AccountId| {
        let of_receiver = || new.iter().filter(|(_, author)| author == receiver);
        let quoting = of_receiver().find(|(row, _)| quoted(row).is_some());
        let (row, _) = quoting.or_else(|| of_receiver().next())?;
        let kind = match quoted(row) {
            Some(quote) if quote.is_accepted() => NotificationType::Quote,
            // Its author is notified of the request.
            Some(_) => return None,
            None => NotificationType::StatusReference,
        };
        Some(Notice {
            receiver: *receiver,
            from: status.author,
            kind: kind.into(),
            activity: i64::from(row.id),
            status: Some(status.id),
        })
    };
    let notices: Vec<Notice> = receivers.iter().filter_map(first).collect();
    notification::notify(cx, tx, &notices).await.map(drop)
}
