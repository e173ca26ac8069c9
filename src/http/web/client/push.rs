//! Push by the browser: the subscription of the session's access token.
//!
//! Spec: docs/contract/web.md, Push and offline; docs/contract/push.md.

use std::collections::BTreeMap;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use minijinja::context;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::{Error, Result};
use crate::web::settings::Frame;
use crate::web::{Form, Page, assets};
use model::Actor;
use service::push::{self, Destination, Wanted};
use service::session;

/// Fields of the form.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Fields {
    /// `on` or `off`.
    act: Option<String>,
    /// Where to send, from the browser.
    endpoint: Option<String>,
    /// A public key on the curve P-256, base64url.
    p256dh: Option<String>,
    /// 16 bytes, base64url.
    auth: Option<String>,
}

/// `POST /web/push`: subscribes this browser to all notifications, or ends that. 204.
///
/// # Errors
/// [`Error::Invalid`] for an endpoint that nothing can be sent to, [`Error::BadRequest`] for another act.
pub async fn update(frame: Frame, Form(fields): Form<Fields>) -> Result<StatusCode> {
    let cx = &frame.cx;
    let token = session::token(cx, &frame.person).await?;
    let actor = Actor { token: Some(token), ..frame.actor().await? };
    match fields.act.as_deref() {
        Some("on") => {
            let to =
                Destination { endpoint: fields.endpoint, p256dh: fields.p256dh, auth: fields.auth, standard: true };
            let kinds = service::notification::types(cx).into_iter().map(|kind| (kind.as_str().to_owned(), true));
            push::subscribe(cx, &actor, to, Wanted { alerts: BTreeMap::from_iter(kinds), policy: None }).await?;
        }
        Some("off") => push::unsubscribe(cx, &actor).await?,
        _ => return Err(Error::bad_request("act is on or off").into()),
    }
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /sw.js`: the service worker of all pages.
pub async fn worker() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
        // Browsers ask for it again on their own.
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; connect-src 'self'"),
    ];
    (headers, assets::bytes("sw.js")).into_response()
}

/// `GET /offline`: the page that the service worker shows while the server is unreachable; the same for everyone.
///
/// # Errors
/// When rendering fails, which is a bug.
pub async fn offline(cx: Cx) -> Result<Page> {
    Page::render(&cx, "client/offline.html", context! { page_title => cx.language().say("script.offline") })
}
