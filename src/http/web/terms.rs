//! The pages of the terms of service: `/terms-of-service` and `/terms-of-service/2026-11-21`. Public even on a closed
//! server, so that people can read them before they sign up.

use minijinja::context;

use super::{Page, WebSession};
use crate::Cx;
use crate::error::Result;
use crate::extract::Path;
use entity::terms_of_service::TermsOfService;
use model::instance::TermsOfService as Terms;
use service::terms;

/// `GET /terms-of-service`: the current version, else the first future one.
pub async fn show(cx: Cx, _visitor: WebSession) -> Result<Page> {
    page(&cx, &terms::current(&cx).await?)
}

/// `GET /terms-of-service/{date}`
pub async fn show_of(cx: Cx, _visitor: WebSession, Path(date): Path<String>) -> Result<Page> {
    page(&cx, &terms::of_date(&cx, &date).await?)
}

fn page(cx: &Cx, version: &Terms) -> Result<Page> {
    let language = cx.language();
    let shown = TermsOfService::new(cx, version);
    let dated = |date: &String| context! { iso => date, human => terms::day(language, date) };
    let others = terms::dates(cx);
    let context = context! {
        page_title => language.say("terms.title"),
        noindex => !shown.effective,
        terms_html => shown.content,
        effective => shown.effective,
        date => dated(&shown.effective_date),
        successor => shown.succeeded_by.as_ref().map(dated),
        others => others.iter().filter(|date| **date != shown.effective_date).map(dated).collect::<Vec<_>>(),
    };
    Page::render(cx, "terms.html", context)
}
