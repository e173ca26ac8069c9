//! Reporting an account, with statuses of it, to the moderators here and at its server.

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use minijinja::{Value, context};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::Params;
use crate::web::settings::Frame;
use crate::web::{Form, Page};
use entity::web;
use model::filter::FilterContext;
use model::instance::Rule;
use model::report::ReportCategory;
use model::{AccountId, Actor, Cursor, RuleId, StatusId};
use service::filing::{self, Draft};
use service::timeline::{self, ProfileQuery};

/// Statuses that the form offers.
const OFFERED: i64 = 20;

/// Query parameters of the form.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Start {
    account_id: Option<AccountId>,
    /// A status that is ticked.
    status_id: Option<StatusId>,
}

/// Fields of the form.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Fields {
    account_id: Option<AccountId>,
    status_ids: Option<Vec<StatusId>>,
    comment: Option<String>,
    /// Whether the server of the account receives it too.
    forward: Option<bool>,
    category: Option<ReportCategory>,
    rule_ids: Option<Vec<RuleId>>,
}

/// `GET /report`
///
/// # Errors
/// [`Error::NotFound`] when there is no such account.
pub async fn show(frame: Frame, Params(start): Params<Start>) -> Result<Page> {
    let actor = frame.actor().await?;
    let fields =
        Fields { account_id: start.account_id, status_ids: start.status_id.map(|id| vec![id]), ..Fields::default() };
    page(&frame, &actor, &fields, None).await
}

/// `POST /report`
///
/// # Errors
/// [`Error::NotFound`] when there is no such account. Faults of the report are shown in the form.
pub async fn create(frame: Frame, Form(fields): Form<Fields>) -> Result<Response> {
    let actor = frame.actor().await?;
    let target = fields.account_id.ok_or_else(|| Error::missing("account_id"))?;
    let draft = Draft {
        status_ids: fields.status_ids.clone().unwrap_or_default(),
        comment: fields.comment.clone().unwrap_or_default(),
        forward: fields.forward.unwrap_or_default(),
        forward_to_domains: None,
        category: fields.category,
        rule_ids: fields.rule_ids.clone().unwrap_or_default(),
    };
    match filing::create(&frame.cx, &actor, target, draft).await {
        Ok(_) => Ok(frame.done("report.done", "/home")),
        Err(error @ (Error::Invalid(_) | Error::Validation(_))) => {
            let words = error.to_string();
            let words = frame.cx.language().say_error(&words).unwrap_or(words);
            let page = page(&frame, &actor, &fields, Some(&words)).await?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
        }
        Err(error) => Err(error.into()),
    }
}

/// The rules that a report can name, in the language of the page.
fn rules(cx: &Cx) -> Vec<Value> {
    let language = cx.language().code();
    let shown = |rule: &Rule| context! { id => rule.id.to_string(), text => rule.in_language(language).0 };
    cx.rules().iter().map(shown).collect()
}

async fn page(frame: &Frame, actor: &Actor, fields: &Fields, error: Option<&str>) -> Result<Page> {
    let cx = &frame.cx;
    let target = fields.account_id.ok_or_else(|| Error::missing("account_id"))?;
    let account = web::authors(cx, Some(actor), &[target]).await?.pop().ok_or(Error::NotFound)?;
    let query = ProfileQuery { exclude_reblogs: true, ..ProfileQuery::default() };
    let slice = timeline::profile(cx, Some(actor), target, &query, &Cursor::first(OFFERED)).await?;
    let chosen = fields.status_ids.clone().unwrap_or_default();
    let missing: Vec<StatusId> =
        chosen.iter().filter(|id| !slice.shown.iter().any(|seen| seen.head().id == **id)).copied().collect();
    let named = service::visibility::statuses(cx, Some(actor), service::visibility::Place::Single, &missing).await?;
    let named = named.into_iter().filter(|seen| seen.head().account_id == target);
    let seen: Vec<_> = named.chain(slice.shown).collect();
    let own = context! {
        error,
        has_server => account.acct.contains('@'),
        account,
        account_id => target,
        statuses => web::statuses(cx, Some(actor), None::<FilterContext>, &seen).await?,
        chosen => chosen.iter().map(ToString::to_string).collect::<Vec<_>>(),
        comment => fields.comment,
        forward => fields.forward,
        category => fields.category.map(|category| category.to_string()),
        rules => rules(cx),
        rule_ids => fields.rule_ids.iter().flatten().map(ToString::to_string).collect::<Vec<_>>(),
    };
    frame.page("report", "report.title", "client/report.html", own)
}
