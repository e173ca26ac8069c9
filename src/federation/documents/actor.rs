//! Actors: of accounts, and the server's own.

use context::{Cx, Error, Result};
use entity::activity::{self, Files, PUBLIC};
use model::Account;
use serde::Serialize;
use service::webfinger::SERVER_NAME;

use super::served::{Served, with_context};
use crate::identity;

/// How long an actor may be kept, and the server's own, in minutes (docs/contract/federation.md#2-uris).
const KEEP: u32 = 3;
const KEEP_SERVER: u32 = 10;

/// The actor of `account`.
pub(super) async fn actor(cx: &Cx, account: &Account) -> Result<Served> {
    let actor = activity::actor(cx, account, Files::Served(&cx.urls)).await?;
    Ok(Served::new(with_context(&actor), KEEP))
}

/// The change of the profile of `account`, as it is sent.
///
/// # Errors
/// [`Error::NotFound`] when it was deleted meanwhile.
pub async fn update_of_actor(cx: &Cx, account: &Account) -> Result<String> {
    let actor = activity::actor(cx, account, Files::Served(&cx.urls)).await?;
    let update = Update {
        id: format!("{}#updates/{}", account.uri, cx.clock.now().timestamp_micros()),
        kind: "Update",
        actor: &account.uri,
        to: [PUBLIC],
        object: serde_json::value::RawValue::from_string(actor.into_string()).map_err(Error::internal)?,
    };
    Ok(with_context(&context::json::Fragment::of(&update)?))
}

#[derive(Serialize)]
struct Update<'a> {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    actor: &'a str,
    to: [&'static str; 1],
    object: Box<serde_json::value::RawValue>,
}

/// The server's own actor.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Server {
    #[serde(rename = "@context")]
    context: [&'static str; 2],
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    preferred_username: &'static str,
    inbox: String,
    outbox: String,
    public_key: PublicKey,
    endpoints: Endpoints,
    url: String,
    manually_approves_followers: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PublicKey {
    id: String,
    owner: String,
    public_key_pem: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Endpoints {
    shared_inbox: String,
}

pub(super) async fn server(cx: &Cx) -> Result<Served> {
    let id = cx.urls.path("/actor");
    let actor = Server {
        context: ["https://www.w3.org/ns/activitystreams", "https://w3id.org/security/v1"],
        kind: "Application",
        preferred_username: SERVER_NAME,
        inbox: format!("{id}/inbox"),
        outbox: format!("{id}/outbox"),
        public_key: PublicKey {
            id: format!("{id}#main-key"),
            owner: id.clone(),
            public_key_pem: identity::server_key(cx).await?.public.clone(),
        },
        endpoints: Endpoints { shared_inbox: cx.urls.path("/inbox") },
        url: cx.urls.path("/about"),
        manually_approves_followers: true,
        id,
    };
    let body = serde_json::to_string(&actor).map_err(Error::internal)?;
    Ok(Served::new(body, KEEP_SERVER))
}
