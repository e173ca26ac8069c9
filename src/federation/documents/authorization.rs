//! Authorizations of interactions with statuses of this server.
//!
//! Whoever may see the status may read them; neither of the two objects is inline, so that nothing else is disclosed.
//!
//! Spec: <https://w3id.org/fep/044f>, Approval stamps

use context::json::Fragment;
use context::{Cx, Error, Result};
use model::interaction::InteractionKind;
use model::{Account, Actor, RowId, urls};
use serde::Serialize;
use service::status::decision;
use service::visibility;

use super::note::KEEP;
use super::served::{Served, with_context};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Authorization<'a> {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    attributed_to: &'a str,
    interacting_object: &'a str,
    interaction_target: &'a str,
}

/// The authorization `id` by `author`, while it is valid.
pub(super) async fn authorization(cx: &Cx, author: &Account, id: RowId, viewer: Option<&Actor>) -> Result<Served> {
    let request = decision::find_accepted(cx, author.id, id).await?;
    let seen = visibility::status(cx, viewer, request.target_id).await?;
    if seen.is_local_only() {
        return Err(Error::NotFound);
    }
    let target = urls::note(&author.uri, request.target_id);
    let document = Fragment::of(&Authorization {
        id: urls::authorization(&author.uri, id),
        kind: match request.kind {
            InteractionKind::Quote => "QuoteAuthorization",
            InteractionKind::Reply => "ReplyAuthorization",
            InteractionKind::Favourite => "LikeAuthorization",
            InteractionKind::Reblog => "AnnounceAuthorization",
        },
        attributed_to: &author.uri,
        interacting_object: &request.uri,
        interaction_target: &target,
    })?;
    Ok(Served::new(with_context(&document), KEEP))
}
