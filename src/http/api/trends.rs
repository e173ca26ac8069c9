//! Trends: what many people use at present.
//!
//! Spec: <https://docs.joinmastodon.org/methods/trends/>

use axum::http::{HeaderMap, HeaderValue, header};

use super::timelines::accept_language;
use crate::Cx;
use crate::error::Result;
use crate::extract::auth::AnyScope;
use crate::extract::{AppAuth, OffsetPaging};
use crate::page::Page;
use model::Actor;

use service::locale;
use service::trend::{self, Query};

/// What trends in preferred languages vary by.
const VARY: HeaderValue = HeaderValue::from_static("Authorization, Accept-Language");

fn viewer_of(auth: Option<&AppAuth<AnyScope>>) -> Option<&Actor> {
    auth.and_then(|AppAuth(grant, ..)| grant.actor.as_deref())
}

/// `GET /api/v1/trends/tags`, and `GET /api/v1/trends`
pub async fn tags(cx: Cx, auth: Option<AppAuth<AnyScope>>, paging: OffsetPaging<10, 20>) -> Result<Page<entity::Tag>> {
    let viewer = viewer_of(auth.as_ref());
    let query = Query { languages: Vec::new(), limit: paging.limit, offset: paging.offset };
    let page = trend::tags(&cx, viewer, &query).await?;
    let items = entity::tag::render(&cx, &page.shown, viewer.is_some()).await?;
    Ok(Page::by_offset(&paging, page.count, items))
}

/// `GET /api/v1/trends/statuses`: those in the languages that the user or the browser prefers come first.
pub async fn statuses(
    cx: Cx,
    auth: Option<AppAuth<AnyScope>>,
    paging: OffsetPaging<20, 40>,
    headers: HeaderMap,
) -> Result<Page<entity::Status>> {
    let viewer = viewer_of(auth.as_ref());
    let languages = locale::languages(viewer, None, accept_language(&headers).as_deref());
    let query = Query { languages, limit: paging.limit, offset: paging.offset };
    let page = trend::statuses(&cx, viewer, &query).await?;
    let items = entity::status::render(&cx, viewer, &page.shown).await?;
    Ok(Page::by_offset(&paging, page.count, items).with_header(header::VARY, VARY))
}

/// `GET /api/v1/trends/links`: those in the languages that the user or the browser prefers come first.
pub async fn links(
    cx: Cx,
    auth: Option<AppAuth<AnyScope>>,
    paging: OffsetPaging<10, 20>,
    headers: HeaderMap,
) -> Result<Page<entity::TrendsLink>> {
    let languages = locale::languages(viewer_of(auth.as_ref()), None, accept_language(&headers).as_deref());
    let query = Query { languages, limit: paging.limit, offset: paging.offset };
    let page = trend::links(&cx, &query).await?;
    let items = entity::preview_card::render_trends(&cx, page.shown).await?;
    Ok(Page::by_offset(&paging, page.count, items).with_header(header::VARY, VARY))
}
