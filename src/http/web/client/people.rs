//! Lists of people: followers and followed accounts, accounts that favourited or boosted a status, follow requests, blocked and
//! muted accounts.

use minijinja::{Value, context};

use crate::error::Result;
use crate::extract::{Paging, Path};
use crate::web::Page;
use crate::web::settings::Frame;
use context::json::Array;
use entity::web;
use model::relationship::Listed;
use model::{Actor, StatusId};
use service::status::Interaction;
use service::{account, follow, public, relationship};

/// The acts that the page offers for each person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Offer {
    Nothing,
    /// Authorize or reject a follow request.
    Decision,
    Unblock,
    Unmute,
}

impl Offer {
    /// The acts of `account_acts`, with their messages.
    const fn acts(self) -> &'static [[&'static str; 2]] {
        match self {
            Self::Nothing => &[],
            Self::Decision => &[["authorize", "people.authorize"], ["reject", "people.reject"]],
            Self::Unblock => &[["unblock", "people.unblock"]],
            Self::Unmute => &[["unmute", "people.unmute"]],
        }
    }
}

fn page(
    frame: &Frame,
    viewer: &Actor,
    (section, title): (&str, &str),
    (paging, ids): (&Paging<40, 80>, &[i64]),
    accounts: &Array,
    offer: Offer,
) -> Result<Page> {
    let acts: Vec<Value> =
        offer.acts().iter().map(|[act, message]| context! { act, label => frame.say(message) }).collect();
    let own = context! {
        title,
        accounts => web::authors_of(Some(viewer), accounts.as_str())?,
        acts,
        older_url => paging.older(ids),
        newer_url => paging.newer(ids),
    };
    frame.titled(section, title, "client/people.html", own)
}

async fn listed(
    frame: &Frame,
    viewer: &Actor,
    names: (&str, &str),
    paging: &Paging<40, 80>,
    rows: &[Listed],
    offer: Offer,
) -> Result<Page> {
    let ids: Vec<i64> = rows.iter().map(|row| row.row_id.into()).collect();
    let accounts = entity::account::render_listed(&frame.cx, rows).await?;
    page(frame, viewer, names, (paging, &ids), &accounts, offer)
}

/// `GET /@{name}/followers`
///
/// # Errors
/// [`NotFound`](context::Error::NotFound) when there is no such account.
pub async fn followers(frame: Frame, Path(name): Path<String>, paging: Paging<40, 80>) -> Result<Page> {
    let (cx, viewer) = (&frame.cx, frame.actor().await?);
    let of = public::person_for(cx, Some(&viewer), &name).await?;
    let rows = account::followers(cx, Some(&viewer), of.id, &paging.cursor).await?;
    let title = cx.language().say_with("people.followers", &[("acct", &of.acct())]);
    listed(&frame, &viewer, ("profile", &title), &paging, &rows, Offer::Nothing).await
}

/// `GET /@{name}/following`
///
/// # Errors
/// [`NotFound`](context::Error::NotFound) when there is no such account.
pub async fn following(frame: Frame, Path(name): Path<String>, paging: Paging<40, 80>) -> Result<Page> {
    let (cx, viewer) = (&frame.cx, frame.actor().await?);
    let of = public::person_for(cx, Some(&viewer), &name).await?;
    let rows = account::following(cx, Some(&viewer), of.id, &paging.cursor).await?;
    let title = cx.language().say_with("people.following", &[("acct", &of.acct())]);
    listed(&frame, &viewer, ("profile", &title), &paging, &rows, Offer::Nothing).await
}

/// `GET /follow_requests`
pub async fn follow_requests(frame: Frame, paging: Paging<40, 80>) -> Result<Page> {
    let viewer = frame.actor().await?;
    let rows = follow::requests(&frame.cx, &viewer, &paging.cursor).await?;
    let title = frame.say("people.requests");
    listed(&frame, &viewer, ("follow_requests", &title), &paging, &rows, Offer::Decision).await
}

/// `GET /blocks`
pub async fn blocks(frame: Frame, paging: Paging<40, 80>) -> Result<Page> {
    let viewer = frame.actor().await?;
    let rows = relationship::blocks(&frame.cx, &viewer, &paging.cursor).await?;
    let title = frame.say("people.blocks");
    listed(&frame, &viewer, ("blocks", &title), &paging, &rows, Offer::Unblock).await
}

/// `GET /mutes`
pub async fn mutes(frame: Frame, paging: Paging<40, 80>) -> Result<Page> {
    let viewer = frame.actor().await?;
    let rows = relationship::mutes(&frame.cx, &viewer, &paging.cursor).await?;
    let ids: Vec<i64> = rows.iter().map(|row| row.listed.row_id.into()).collect();
    let accounts: Vec<_> = rows.iter().map(|row| row.listed.account_id).collect();
    let accounts = entity::account::render(&frame.cx, &accounts).await?;
    let title = frame.say("people.mutes");
    page(&frame, &viewer, ("mutes", &title), (&paging, &ids), &accounts, Offer::Unmute)
}

/// `GET /@{name}/{id}/favourites`
///
/// # Errors
/// [`NotFound`](context::Error::NotFound) when the status is missing or hidden.
pub async fn favourited_by(
    frame: Frame,
    Path((_, id)): Path<(String, StatusId)>,
    paging: Paging<40, 80>,
) -> Result<Page> {
    interactions(&frame, id, &paging, Interaction::Favouriters, "people.favourites").await
}

/// `GET /@{name}/{id}/reblogs`
///
/// # Errors
/// [`NotFound`](context::Error::NotFound) when the status is missing or hidden.
pub async fn reblogged_by(
    frame: Frame,
    Path((_, id)): Path<(String, StatusId)>,
    paging: Paging<40, 80>,
) -> Result<Page> {
    interactions(&frame, id, &paging, Interaction::Rebloggers, "people.reblogs").await
}

async fn interactions(
    frame: &Frame,
    id: StatusId,
    paging: &Paging<40, 80>,
    interaction: Interaction,
    title: &str,
) -> Result<Page> {
    let (cx, viewer) = (&frame.cx, frame.actor().await?);
    let rows = service::status::list_interactions(cx, Some(&viewer), interaction, id, &paging.cursor).await?;
    let (ids, accounts): (Vec<i64>, Vec<_>) = rows.into_iter().map(|(row, account)| (i64::from(row), account)).unzip();
    let accounts = entity::account::render(cx, &accounts).await?;
    page(frame, &viewer, ("status", &frame.say(title)), (paging, &ids), &accounts, Offer::Nothing)
}
