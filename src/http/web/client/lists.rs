//! Lists: which there are, their options and members.

use axum::response::Response;
use minijinja::context;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::{Error, Result};
use crate::extract::{Paging, Path};
use crate::web::settings::Frame;
use crate::web::{Form, Page, redirect};
use entity::web;
use model::RowId;
use model::list::RepliesPolicy;
use service::list::{self, List, ListParams};

/// Where this page is.
const PATH: &str = "/lists";

fn shown(list: &List) -> minijinja::Value {
    context! {
        id => list.id.to_string(),
        title => list.title,
        replies_policy => list.replies_policy.as_str(),
        exclusive => list.exclusive,
        notify => list.notify,
    }
}

/// `GET /lists`: oldest first, and a form for a new one.
pub async fn index(frame: Frame) -> Result<Page> {
    let lists = list::list(&frame.cx, &frame.actor().await?).await?;
    let own = context! { lists => lists.iter().map(shown).collect::<Vec<_>>() };
    frame.page("lists", "lists.title", "client/lists.html", own)
}

/// Fields of the form of a list; a box that is left out is not ticked.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Fields {
    title: Option<String>,
    replies_policy: Option<RepliesPolicy>,
    exclusive: Option<bool>,
    notify: Option<bool>,
    /// `delete`: deletes the list instead.
    act: Option<String>,
}

impl Fields {
    fn params(self) -> ListParams {
        ListParams {
            title: Some(self.title.unwrap_or_default()),
            replies_policy: self.replies_policy,
            exclusive: Some(self.exclusive.unwrap_or_default()),
            notify: Some(self.notify.unwrap_or_default()),
        }
    }
}

/// `POST /lists`: a new list.
///
/// # Errors
/// As [`list::create`].
pub async fn create(frame: Frame, Form(form): Form<Fields>) -> Result<Response> {
    let list = list::create(&frame.cx, &frame.actor().await?, form.params()).await?;
    Ok(redirect(&format!("{PATH}/{}/edit", list.id)))
}

/// `GET /lists/{id}/edit`: its options and members.
///
/// # Errors
/// [`NotFound`](context::Error::NotFound) when the list is missing or someone else's.
pub async fn edit(frame: Frame, Path(id): Path<RowId>, paging: Paging<40, 80>) -> Result<Page> {
    let (cx, viewer) = (&frame.cx, frame.actor().await?);
    let list = list::find(cx, &viewer, id).await?;
    let members = list::members(cx, &viewer, id, &paging.cursor).await?;
    let ids: Vec<i64> = members.iter().map(|row| row.row_id.into()).collect();
    let own = context! {
        list => shown(&list),
        accounts => web::authors_of(Some(&viewer), entity::account::render_listed(cx, &members).await?.as_str())?,
        older_url => paging.older(&ids),
        newer_url => paging.newer(&ids),
    };
    frame.titled("lists", &list.title, "client/list.html", own)
}

/// `POST /lists/{id}/edit`: changes its options, or deletes it.
///
/// # Errors
/// As [`list::update`]; [`Error::BadRequest`] for another act.
pub async fn update(frame: Frame, Path(id): Path<RowId>, Form(form): Form<Fields>) -> Result<Response> {
    let (cx, actor) = (&frame.cx, frame.actor().await?);
    match form.act.as_deref() {
        None | Some("") => {
            list::update(cx, &actor, id, form.params()).await?;
            Ok(frame.done("acts.saved", &format!("{PATH}/{id}/edit")))
        }
        Some("delete") => {
            list::delete(cx, &actor, id).await?;
            Ok(frame.done("lists.deleted", PATH))
        }
        Some(_) => Err(Error::bad_request("act is delete, or left out").into()),
    }
}
