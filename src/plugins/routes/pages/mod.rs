//! Pages of plugins: the checks before a plugin is called, and the rendering of its view.
//!
//! Reached from the router's fallback, as routes are. The user is signed in by a session and has the permission of the
//! manifest; a form is accepted only with the token of its page (CSRF). The plugin returns the content of a page as
//! data, which the template of this folder renders as text. A submission is checked against the current page: only a
//! form or button that the plugin offers reaches it, with values that fit its fields. A picture of a page is drawn on
//! request, at the page's address with `picture=ID`. Pages for anyone are in [`open`].

mod form;
mod named;
mod open;
mod picture;
mod reader;
pub mod settings;
mod view;

use std::sync::{Arc, LazyLock};

use axum::body::Body;
use axum::extract::{FromRequest as _, FromRequestParts as _, Request};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use minijinja::context;
use rookery_plugin_host::exports::pages::{Block, Outcome, Picture, View};
use rookery_plugin_host::{CallErrorKind, Part};
use serde::Serialize;
use serde_json::{Map, Value};

use self::form::Refused;
use self::named::Named;
use self::reader::Reader;
use self::view::Around;
use super::table::{FoundPage, MountedPage};
use crate::call::{Call, Mode};
use crate::error::no_answer;
use crate::{Cx, Registry};
use context::Language;
use context::error::Error;
use model::{Actor, Permissions, Scopes};
use plugin_package::manifest::{PageAuth, Title};
use rookery_http::web::next::is_own_path;
use rookery_http::web::settings::viewer;
use rookery_http::web::{Cookies, Csrf, Form, Page, SignedIn, redirect};
use rookery_http::{ErrorResponse, Result, observe};
use service::session::{self, Person};
use service::templates::Templates;

/// The permissions of a user in a browser, as scopes.
const SCOPES: &str = "profile read write follow push";

/// The templates of the server's pages and of plugins' pages.
static TEMPLATES: LazyLock<Templates> = LazyLock::new(|| {
    rookery_http::web::TEMPLATES.clone().with(&[
        ("_plugin_blocks.html", include_str!("blocks.html")),
        ("plugin_open.html", include_str!("open.html")),
        ("settings/plugin.html", include_str!("page.html")),
    ])
});

/// Answers a request for a page; `None` when there is none at its path.
pub(super) async fn serve(cx: Cx, registry: &Registry, request: Request) -> Option<Response> {
    let method = request.method().clone();
    if ![Method::GET, Method::HEAD, Method::POST].contains(&method) {
        return None;
    }
    let FoundPage { mounted, params } = registry.routes.find_page(request.uri().path())?;
    if method == Method::POST && mounted.page().auth == PageAuth::None {
        return None;
    }
    if cx.plugins.pauses.stops(&mounted.plugin) {
        let error = no_answer(mounted.plugin.name(), CallErrorKind::Busy, None);
        return Some(ErrorResponse(error).into_response());
    }
    let template = Arc::clone(&mounted.path);
    let mut response = Box::pin(respond(cx, mounted, params, request)).await;
    response.extensions_mut().insert(observe::RouteTemplate(template));
    if method == Method::HEAD {
        *response.body_mut() = Body::empty();
    }
    Some(response)
}

/// A page in the list of pages.
#[derive(Debug, Serialize)]
pub struct Listed {
    path: String,
    title: String,
    description: Option<String>,
}

/// The pages without parameters that `actor` may open.
pub fn listed(cx: &Cx, actor: &Actor, language: Language) -> Vec<Listed> {
    let registry = cx.registry();
    let open = registry.routes.pages().filter(|page| page.is_fixed() && permits(page, actor));
    let in_language = |text: &Title| text.in_language(language.code()).to_owned();
    open.map(|mounted| mounted.page())
        .map(|page| Listed {
            path: page.path.clone(),
            title: in_language(&page.title),
            description: page.description.as_ref().map(in_language),
        })
        .collect()
}

fn permits(page: &MountedPage, actor: &Actor) -> bool {
    let needed = page.page().permission.as_deref();
    needed.is_none_or(|name| Permissions::named(name).is_some_and(|bit| actor.permissions.has(bit)))
}

async fn respond(cx: Cx, mounted: Arc<MountedPage>, params: Vec<(String, String)>, mut request: Request) -> Response {
    let core = rookery_http::Cx(context::Cx::clone(&cx));
    let cookies = Cookies::read(&core, request.headers());
    request.extensions_mut().insert(cookies.clone());
    let (mut parts, body) = request.into_parts();
    if mounted.page().auth == PageAuth::None {
        let mut response = open::respond(cx, mounted, params, parts).await;
        cookies.write(response.headers_mut());
        return response;
    }
    let mut response = match SignedIn::from_request_parts(&mut parts, &()).await {
        Err(elsewhere) => elsewhere,
        Ok(SignedIn(person)) => match Visit::of(cx, mounted, person, params, &parts.uri, cookies.clone()).await {
            Ok(visit) => visit.answer(parts, body).await.unwrap_or_else(IntoResponse::into_response),
            Err(error) => error.into_response(),
        },
    };
    cookies.write(response.headers_mut());
    response
}

/// The visitor of a page.
struct Visit {
    reader: Reader,
    person: Person,
    actor: Arc<Actor>,
    /// The picture of the page that is asked for.
    picture: Option<String>,
    /// Where its forms are sent.
    address: String,
    cookies: Cookies,
    csrf: Csrf,
}

/// A form that is shown again: its name, the submitted values, and the errors as sentences.
struct Again {
    form: String,
    sent: Map<String, Value>,
    faults: Vec<(String, String)>,
}

impl Visit {
    /// # Errors
    /// [`Error::Forbidden`] without the permission that the page asks for.
    async fn of(
        cx: Cx,
        mounted: Arc<MountedPage>,
        person: Person,
        params: Vec<(String, String)>,
        uri: &Uri,
        cookies: Cookies,
    ) -> Result<Self> {
        let actor = session::actor(&cx, &person).await?;
        // There is no token between them and the server: they have every scope.
        let actor = Actor { scopes: Scopes::from_stored(SCOPES), ..actor };
        if !permits(&mounted, &actor) {
            return Err(Error::forbidden("This action is not allowed").into());
        }
        let core = rookery_http::Cx(context::Cx::clone(&cx));
        let (after, picture) = (query_parameter(uri, "after"), query_parameter(uri, "picture"));
        let csrf = Csrf::of(&core, &cookies);
        let address = address(uri.path(), &[("after", after.as_deref())]);
        let actor = Arc::new(actor);
        let reader = Reader { cx, core, mounted, actor: Some(Arc::clone(&actor)), params, after };
        Ok(Self { reader, person, actor, picture, address, cookies, csrf })
    }

    async fn answer(&self, parts: Parts, body: Body) -> Result<Response> {
        if parts.method != Method::POST {
            let view = self.reader.view().await?;
            return match &self.picture {
                Some(id) => self.draw(view, id).await,
                None => Ok(self.render(&view, None).await?.into_response()),
            };
        }
        let request = Request::from_parts(parts, body);
        let Form(sent) = Form::<Map<String, Value>>::from_request(request, &()).await?;
        let view = self.reader.view().await?;
        let submission = match form::read(&view, &sent) {
            Ok(submission) => submission,
            Err(Refused::Unknown) => return Err(Error::NotFound.into()),
            Err(Refused::Faults(form, faults)) => {
                let spoken = |why: String| view::in_language(self.reader.core.language(), &why);
                let faults = faults.into_iter().map(|(field, why)| (field, spoken(why))).collect();
                return self.again(&view, &Again { form, sent, faults }).await;
            }
        };
        let Reader { cx, mounted, .. } = &self.reader;
        let call = Call::new(cx, &mounted.plugin, Part::Routes, self.reader.caller(), Mode::Ambient);
        let form = submission.form.clone();
        let request = self.reader.request();
        let outcome = mounted.plugin.component.submit(Arc::clone(&call) as _, request, submission).await;
        match outcome.map_err(|cause| self.reader.failed(cause))? {
            Outcome::Invalid(faults) => self.again(&view, &Again { form, sent, faults }).await,
            Outcome::Done((notice, to)) => {
                let to = to.unwrap_or_else(|| self.address.clone());
                if !is_own_path(&to) {
                    return Err(self.reader.nonsense(format!("{to:?} is no path of this server")).into());
                }
                call.commit().await?;
                self.cookies.notice(&notice);
                Ok(redirect(&to))
            }
        }
    }

    /// The picture `id` of the page, whose foot says whose it is.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the page has none of this name.
    async fn draw(&self, view: View, id: &str) -> Result<Response> {
        let named = |block| if let Block::Picture(picture) = block { Some(picture) } else { None };
        let mut pictures = view.blocks.into_iter().filter_map(named);
        let picture = pictures.find(|picture: &Picture| picture.id == id).ok_or(Error::NotFound)?;
        let file = format!("inline; filename=\"{}.png\"", picture.id);
        let foot = format!("@{}@{}", self.actor.username, self.reader.cx.urls.local_domain);
        let drawn =
            tokio::task::spawn_blocking(move || picture::draw(&picture, &foot)).await.map_err(Error::internal)?;
        let mut response = drawn.map_err(Error::internal)?.into_response();
        for (name, value) in [
            (header::CONTENT_TYPE, "image/png"),
            (header::CACHE_CONTROL, "private, no-store"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::CONTENT_SECURITY_POLICY, "default-src 'none'"),
        ] {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        if let Ok(file) = HeaderValue::from_str(&file) {
            response.headers_mut().insert(header::CONTENT_DISPOSITION, file);
        }
        Ok(response)
    }

    async fn again(&self, view: &View, again: &Again) -> Result<Response> {
        let page = self.render(view, Some(again)).await?;
        Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
    }

    async fn render(&self, view: &View, again: Option<&Again>) -> Result<Page> {
        let Reader { cx, core, after, .. } = &self.reader;
        let named = Named::load(cx, Some(&self.actor), view).await?;
        let whole = |path: &str| cx.urls.path(path);
        let path = self.address.split('?').next().unwrap_or_default();
        let picture = |id: &str| address(path, &[("after", after.as_deref()), ("picture", Some(id))]);
        let around = Around {
            again,
            named: &named,
            whole: &whole,
            picture: &picture,
            drawn: &|text| entity::web::with_emojis(cx, text),
        };
        let own = context! {
            page_title => view.title,
            noindex => true,
            flash => self.cookies.take_flash(),
            csrf => self.csrf.0,
            section => "extensions",
            viewer => viewer(core, &self.person),
            action => self.address,
            title => view.title,
            blocks => view.blocks.iter().map(|block| view::block(block, &around)).collect::<Vec<_>>(),
            next => view.next.as_deref().map(|after| address(path, &[("after", Some(after))])),
            width => picture::WIDTH,
            height => picture::HEIGHT,
        };
        Page::render_of(core, &TEMPLATES, "settings/plugin.html", own)
    }
}

/// The parameter `name` of the query string.
fn query_parameter(uri: &Uri, name: &str) -> Option<String> {
    let query = uri.query().unwrap_or_default().as_bytes();
    let found = url::form_urlencoded::parse(query).find(|(known, _)| known == name);
    found.map(|(_, value)| value.into_owned())
}

/// A path with those parameters that have a value.
fn address(path: &str, parameters: &[(&str, Option<&str>)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(parameters.iter().filter_map(|(name, value)| Some((name, (*value)?))));
    let query = query.finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}
