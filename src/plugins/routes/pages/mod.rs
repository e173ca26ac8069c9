//! Pages of plugins: the checks before a plugin is called, and the rendering of its view.
//!
//! Reached from the router's fallback, as routes are. The user is signed in by a session and has the permission of the
//! manifest; a form is accepted only with the token of its page (CSRF). The plugin returns the content of a page as
//! data, which the template of this folder renders as text. A submission is checked against the current page: only a
//! form or button that the plugin offers reaches it, with values that fit its fields. A picture of a page is drawn on
//! request, at the page's address with `picture=ID`.

mod form;
mod named;
mod picture;
pub mod settings;
mod view;

use std::sync::{Arc, LazyLock};

use axum::body::Body;
use axum::extract::{FromRequest as _, FromRequestParts as _, Request};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use minijinja::context;
use rookery_plugin_host::exports::pages::{Block, Outcome, Picture, Request as PageRequest, View};
use rookery_plugin_host::imports::types::{CallContext, Caller as CallerRecord};
use rookery_plugin_host::{CallError, CallErrorKind, Part};
use serde::Serialize;
use serde_json::{Map, Value};

use self::form::Refused;
use self::named::Named;
use self::view::Around;
use super::gate::rank;
use super::table::{FoundPage, MountedPage};
use crate::call::{Call, Caller, Mode};
use crate::error::{is_own_mistake, no_answer, refused};
use crate::{Cx, Registry};
use context::Language;
use context::error::{Error, NoAnswer};
use model::{Actor, Permissions, Scopes};
use plugin_package::manifest::Title;
use rookery_http::web::next::is_own_path;
use rookery_http::web::settings::viewer;
use rookery_http::web::{Cookies, Csrf, Form, Page, SignedIn, redirect};
use rookery_http::{ErrorResponse, Result, observe};
use service::session::{self, Person};
use service::templates::Templates;

/// The permissions of a user in a browser, as scopes.
const SCOPES: &str = "profile read write follow push";

/// The templates of the server's pages and of plugins' pages.
static TEMPLATES: LazyLock<Templates> =
    LazyLock::new(|| rookery_http::web::TEMPLATES.clone().with(&[("settings/plugin.html", include_str!("page.html"))]));

/// Answers a request for a page; `None` when there is none at its path.
pub(super) async fn serve(cx: Cx, registry: &Registry, request: Request) -> Option<Response> {
    let method = request.method().clone();
    if ![Method::GET, Method::HEAD, Method::POST].contains(&method) {
        return None;
    }
    let FoundPage { mounted, params } = registry.routes.find_page(request.uri().path())?;
    if cx.plugins.pauses.stops(&mounted.plugin) {
        let error = no_answer(mounted.plugin.name(), CallErrorKind::Busy, None);
        return Some(ErrorResponse(error).into_response());
    }
    let template = Arc::clone(&mounted.path);
    let mut response = Box::pin(answer(cx, mounted, params, request)).await;
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

async fn answer(cx: Cx, mounted: Arc<MountedPage>, params: Vec<(String, String)>, mut request: Request) -> Response {
    let core = rookery_http::Cx(context::Cx::clone(&cx));
    let cookies = Cookies::read(&core, request.headers());
    request.extensions_mut().insert(cookies.clone());
    let (mut parts, body) = request.into_parts();
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
    cx: Cx,
    core: rookery_http::Cx,
    mounted: Arc<MountedPage>,
    person: Person,
    actor: Arc<Actor>,
    params: Vec<(String, String)>,
    after: Option<String>,
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
        let query = uri.query().unwrap_or_default().as_bytes();
        let parameter = |name: &str| {
            let found = url::form_urlencoded::parse(query).find(|(known, _)| known == name);
            found.map(|(_, value)| value.into_owned())
        };
        let (after, picture) = (parameter("after"), parameter("picture"));
        let csrf = Csrf::of(&core, &cookies);
        let address = address(uri.path(), &[("after", after.as_deref())]);
        Ok(Self { cx, core, mounted, person, actor: Arc::new(actor), params, after, picture, address, cookies, csrf })
    }

    async fn answer(&self, parts: Parts, body: Body) -> Result<Response> {
        if parts.method != Method::POST {
            let view = self.view().await?;
            return match &self.picture {
                Some(id) => self.draw(view, id).await,
                None => Ok(self.render(&view, None).await?.into_response()),
            };
        }
        let request = Request::from_parts(parts, body);
        let Form(sent) = Form::<Map<String, Value>>::from_request(request, &()).await?;
        let view = self.view().await?;
        let submission = match form::read(&view, &sent) {
            Ok(submission) => submission,
            Err(Refused::Unknown) => return Err(Error::NotFound.into()),
            Err(Refused::Faults(form, faults)) => {
                let spoken = |why: String| view::in_language(self.core.language(), &why);
                let faults = faults.into_iter().map(|(field, why)| (field, spoken(why))).collect();
                return self.again(&view, &Again { form, sent, faults }).await;
            }
        };
        let call = Call::new(&self.cx, &self.mounted.plugin, Part::Routes, self.caller(), Mode::Ambient);
        let form = submission.form.clone();
        let outcome = self.mounted.plugin.component.submit(Arc::clone(&call) as _, self.asked(), submission).await;
        match outcome.map_err(|cause| self.failed(cause))? {
            Outcome::Invalid(faults) => self.again(&view, &Again { form, sent, faults }).await,
            Outcome::Done((notice, to)) => {
                let to = to.unwrap_or_else(|| self.address.clone());
                if !is_own_path(&to) {
                    return Err(self.nonsense(format!("{to:?} is no path of this server")).into());
                }
                call.commit().await?;
                self.cookies.notice(&notice);
                Ok(redirect(&to))
            }
        }
    }

    /// Requests the content of the page from the plugin.
    async fn view(&self) -> Result<View> {
        let call = Call::new(&self.cx, &self.mounted.plugin, Part::Routes, self.caller(), Mode::Read);
        let shown = self.mounted.plugin.component.page(call, self.asked()).await;
        let view = shown.map_err(|cause| self.failed(cause))?;
        view::check(&view).map_err(|why| self.nonsense(why))?;
        Ok(view)
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
        let foot = format!("@{}@{}", self.actor.username, self.cx.urls.local_domain);
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
        let named = Named::load(&self.cx, &self.actor, view).await?;
        let whole = |path: &str| self.cx.urls.path(path);
        let path = self.address.split('?').next().unwrap_or_default();
        let picture = |id: &str| address(path, &[("after", self.after.as_deref()), ("picture", Some(id))]);
        let around = Around {
            again,
            named: &named,
            whole: &whole,
            picture: &picture,
            drawn: &|text| entity::web::with_emojis(&self.cx, text),
        };
        let own = context! {
            page_title => view.title,
            noindex => true,
            flash => self.cookies.take_flash(),
            csrf => self.csrf.0,
            section => "extensions",
            viewer => viewer(&self.core, &self.person),
            action => self.address,
            title => view.title,
            blocks => view.blocks.iter().map(|block| view::block(block, &around)).collect::<Vec<_>>(),
            next => view.next.as_deref().map(|after| address(path, &[("after", Some(after))])),
            width => picture::WIDTH,
            height => picture::HEIGHT,
        };
        Page::render_of(&self.core, &TEMPLATES, "settings/plugin.html", own)
    }

    fn caller(&self) -> Caller {
        Caller {
            role: rank(Some(&self.actor)),
            locale: self.core.language().code().to_owned(),
            request_id: self.core.request_id().unwrap_or_default().to_owned(),
            scopes: self.actor.scopes.iter().map(str::to_owned).collect(),
            actor: Some(Arc::clone(&self.actor)),
            app: None,
            author: None,
        }
    }

    fn asked(&self) -> PageRequest {
        let caller = self.caller();
        let wall = self.mounted.plugin.component.limits().route_wall;
        let record = CallerRecord {
            account: Some(self.actor.id.into()),
            token: None,
            scopes: caller.scopes,
            role: caller.role,
            locale: caller.locale,
            app: None,
        };
        PageRequest {
            ctx: CallContext {
                request_id: caller.request_id,
                caller: record,
                budget_ms: u32::try_from(wall.as_millis()).unwrap_or(u32::MAX),
            },
            page: self.mounted.page().id.clone(),
            params: self.params.clone(),
            after: self.after.clone(),
        }
    }

    /// The error of a call that failed; recorded for the admin unless the plugin meant it. A mistake of the plugin's is none
    /// of the person's: 500, as on routes.
    fn failed(&self, cause: CallError) -> Error {
        let plugin = &self.mounted.plugin;
        let cause = self.cx.plugins.pauses.as_busy_if_paused(plugin, cause);
        let is_mistake = cause.failure.as_ref().is_some_and(is_own_mistake);
        if is_mistake || cause.failure.as_ref().is_none_or(|failure| !(400..500).contains(&failure.status)) {
            self.cx.plugins.report(plugin, "page", &self.mounted.page().id, &cause);
        }
        match cause.failure {
            Some(failure) if !is_mistake => refused(failure),
            Some(_) | None => no_answer(plugin.name(), cause.kind, None),
        }
    }

    /// The error of an answer that is none.
    fn nonsense(&self, message: String) -> Error {
        let plugin = &self.mounted.plugin;
        let person = Some(self.actor.id.into());
        let cause = CallError { kind: CallErrorKind::Trap, message, failure: None, backtrace: Vec::new(), person };
        self.cx.plugins.report(plugin, "page", &self.mounted.page().id, &cause);
        Error::Plugin(NoAnswer { plugin: plugin.name().to_owned(), code: "plugin.output", status: 502 })
    }
}

/// A path with those parameters that have a value.
fn address(path: &str, parameters: &[(&str, Option<&str>)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(parameters.iter().filter_map(|(name, value)| Some((name, (*value)?))));
    let query = query.finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}
