//! Small documents that browsers and crawlers look for at fixed addresses: the manifest of the web app, `robots.txt` and
//! `favicon.ico`.
//!
//! Spec: <https://www.w3.org/TR/appmanifest/>, RFC 9309.

use axum::http::{HeaderName, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;

use super::profile::redirect_permanently;
use super::redirect;
use crate::Cx;
use crate::error::Result;
use context::json::Fragment;
use entity::server_pictures;

/// How long they may be kept: they change with the title of the server.
const A_DAY: &str = "public, max-age=86400";

/// Paths that are nothing for crawlers: forms, and what only the people of this server use.
const PRIVATE: [&str; 21] = [
    "/auth/",
    "/oauth/",
    "/settings",
    "/authorize_interaction",
    "/remote_interaction",
    "/search",
    "/share",
    "/home",
    "/public",
    "/bookmarks",
    "/favourites",
    "/lists",
    "/notifications",
    "/conversations",
    "/publish",
    "/scheduled",
    "/report",
    "/follow_requests",
    "/blocks",
    "/mutes",
    "/web/",
];

#[derive(Serialize)]
struct Manifest<'a> {
    id: &'static str,
    name: &'a str,
    short_name: &'a str,
    start_url: &'static str,
    scope: &'static str,
    display: &'static str,
    background_color: &'static str,
    theme_color: &'static str,
    icons: Vec<Icon>,
}

#[derive(Serialize)]
struct Icon {
    src: String,
    sizes: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
}

/// `GET /manifest` and `/manifest.json`
pub async fn manifest(cx: Cx) -> Result<Response> {
    let settings = cx.settings();
    let png = |side, sizes| Icon { src: server_pictures::icon(&cx, side), sizes, kind: "image/png" };
    let drawn = Icon { src: cx.urls.path("/assets/favicon.svg"), sizes: "any", kind: "image/svg+xml" };
    let is_own = server_pictures::chosen_icons(&cx).is_some();
    let manifest = Manifest {
        id: "/",
        name: &settings.site_title,
        short_name: &settings.site_title,
        start_url: "/",
        scope: "/",
        display: "minimal-ui",
        background_color: "#fae3c4",
        theme_color: "#fae3c4",
        icons: [png(180, "180x180"), png(512, "512x512")].into_iter().chain((!is_own).then_some(drawn)).collect(),
    };
    let json = Fragment::of(&manifest)?.into_string();
    Ok((kept("application/manifest+json; charset=utf-8"), json).into_response())
}

/// `GET /robots.txt`: what people want kept out of search engines is marked on their pages.
pub async fn robots(cx: Cx) -> Response {
    let closed = cx.config.access.limited_federation;
    let rules = match closed {
        true => "Disallow: /\n".to_owned(),
        false => PRIVATE.map(|path| format!("Disallow: {path}\n")).concat(),
    };
    (kept("text/plain; charset=utf-8"), format!("User-agent: *\n{rules}")).into_response()
}

/// `GET /favicon.ico`: where the icon is.
pub async fn favicon(cx: Cx) -> Response {
    match server_pictures::chosen_icons(&cx) {
        Some((small, _)) => redirect(&small),
        None => redirect_permanently("/assets/icon-32.png"),
    }
}

fn kept(kind: &'static str) -> [(HeaderName, &'static str); 2] {
    [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, A_DAY)]
}
