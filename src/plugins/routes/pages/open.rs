//! Pages for anyone (`auth = "none"`): a link to share, whose path may be the secret.
//!
//! The plugin receives no caller, so that all visitors see the same. Such a page has neither forms nor buttons, and no
//! pictures, which cost time to draw. Every request counts against the general limit of its address. A server with
//! limited federation serves signed-in people only, as on its own public pages. No cache stores the page, and browsers
//! send its address to no other site.

use std::sync::Arc;

use axum::extract::FromRequestParts as _;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use minijinja::context;
use rookery_plugin_host::exports::pages::{Block, View};

use super::named::Named;
use super::reader::Reader;
use super::view::{self, Around};
use super::{TEMPLATES, address, picture, query_parameter};
use crate::Cx;
use crate::routes::table::MountedPage;
use context::limits::Key;
use rookery_http::web::{Page, Visitor};
use rookery_http::{ErrorResponse, Result, client_address};
use service::rate_limits;

/// The page of a request whose cookies are among the extensions.
pub(super) async fn respond(
    cx: Cx,
    mounted: Arc<MountedPage>,
    params: Vec<(String, String)>,
    mut parts: Parts,
) -> Response {
    let trusted = &cx.config.server.trusted_proxies;
    let key = Key::address(client_address::of(&parts.extensions, &parts.headers, trusted));
    if let Err(error) = rate_limits::require(&cx, &rate_limits::API_ADDRESS, &key) {
        return ErrorResponse(error).into_response();
    }
    // Of the visitor, only the language and the name in the header of the page count.
    if let Err(elsewhere) = Visitor::from_request_parts(&mut parts, &()).await {
        return elsewhere;
    }
    let core = rookery_http::Cx(context::Cx::clone(&cx));
    let after = query_parameter(&parts.uri, "after");
    let reader = Reader { cx, core, mounted, actor: None, params, after };
    match show(&reader, parts.uri.path()).await {
        Ok(page) => page.no_store().without_referrer().into_response(),
        Err(error) => error.into_response(),
    }
}

async fn show(reader: &Reader, path: &str) -> Result<Page> {
    let view = reader.view().await?;
    check(&view).map_err(|why| reader.nonsense(why))?;
    let cx = &reader.cx;
    let named = Named::load(cx, None, &view).await?;
    let around = Around {
        again: None,
        named: &named,
        whole: &|path| cx.urls.path(path),
        picture: &|id| address(path, &[("picture", Some(id))]),
        drawn: &|text| entity::web::with_emojis(cx, text),
    };
    let own = context! {
        page_title => view.title,
        noindex => true,
        title => view.title,
        blocks => view.blocks.iter().map(|block| view::block(block, &around)).collect::<Vec<_>>(),
        next => view.next.as_deref().map(|after| address(path, &[("after", Some(after))])),
        width => picture::WIDTH,
        height => picture::HEIGHT,
    };
    Page::render_of(&reader.core, &TEMPLATES, "plugin_open.html", own)
}

/// Checks a view for visitors.
///
/// # Errors
/// A message for the plugin's author.
fn check(view: &View) -> Result<(), String> {
    let refused = view.blocks.iter().find_map(|block| match block {
        Block::Form(_) => Some("forms"),
        Block::Picture(_) => Some("pictures"),
        Block::Items(items) if items.items.iter().any(|item| !item.actions.is_empty()) => Some("buttons"),
        Block::Items(_)
        | Block::Text(_)
        | Block::Figures(_)
        | Block::Bars(_)
        | Block::Statuses(_)
        | Block::People(_) => None,
    });
    refused.map_or(Ok(()), |parts| Err(format!("a page with auth = \"none\" has no {parts}")))
}

#[cfg(test)]
mod tests {
    use rookery_plugin_host::exports::pages::{Action, Form, Item, Items, Picture};

    use super::*;

    fn checked(block: Block) -> Result<(), String> {
        check(&View { title: "A".to_owned(), blocks: vec![block], next: None })
    }

    fn an_item(actions: Vec<Action>) -> Block {
        let title = "A".to_owned();
        let item = Item { id: "1".to_owned(), title, lines: Vec::new(), link: None, url: None, actions };
        Block::Items(Items { title: None, items: vec![item], none: String::new() })
    }

    #[test]
    fn page_for_anyone_only_shows() {
        assert_eq!(checked(an_item(Vec::new())), Ok(()));
        assert_eq!(checked(Block::Text("A".to_owned())), Ok(()));
        let (id, title) = ("a".to_owned(), "A".to_owned());
        let action = Action { id: id.clone(), label: title.clone(), danger: false };
        let form = Form { id: id.clone(), title: None, fields: Vec::new(), submit: title.clone() };
        let (lead, bars, figures, words, alt) = (None, None, Vec::new(), Vec::new(), String::new());
        let picture = Picture { id, title, lead, figures, bars, words, alt };
        for (block, part) in
            [(an_item(vec![action]), "buttons"), (Block::Form(form), "forms"), (Block::Picture(picture), "pictures")]
        {
            assert!(checked(block).expect_err(part).ends_with(part), "{part}");
        }
    }
}
