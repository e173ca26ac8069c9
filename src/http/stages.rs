//! The server as one service: every request goes through the same stages, in this order.
//!
//! Normal form of the path, which ends a request that fails it; route and policy, context and span; blocked addresses;
//! then, inside the stages that turn a panic into a 500 and a time-out into a 503: declared size, token, rate limits,
//! closed servers, the handler. The response passes, in this order, the error page, the request id, the language of
//! errors, headers, compression. Each stage is a function of the module named after it and reads the [`RequestState`], which lives on
//! the stack; values for the handler's extractors are in the request's extensions.

use std::convert::Infallible;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::http::{Extensions, HeaderValue, Method, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::time::Instant;
use tower::Service;
use tracing::Instrument as _;

use super::auth::{self, Authentication};
use super::client_address::client_address;
use super::error::{self, ErrorResponse};
use super::extract::Segments;
use super::extract::auth::unusable;
use super::in_flight::{Budget, InFlight};
use super::mount::Fallback;
use super::observe::{self, RequestSeconds};
use super::policy::{Policy, RouteKind, SMALL_BODY_BYTES};
use super::table::{Route, Table};
use super::web::{self, Cookies};
use super::{closed_server, compress, headers, ip_blocks, language, path_normalisation, rate_limits, request_limits};
use crate::Cx;
use crate::state::{Carries, RequestState};
use context::cx::RequestId;
use context::limits::Key;
use crypto::RandomIds;
use model::Grant;
use model::actor::Unusable;

/// Answers every request of a server. Cloning copies a pointer.
#[derive(Clone, Debug)]
pub struct Pipeline(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    cx: context::Cx,
    routes: Table,
    /// Documents for other servers, at paths of their own and of pages.
    documents: Table,
    fallback: Option<Fallback>,
    seconds: RequestSeconds,
    ids: RandomIds,
    budget: Arc<Budget>,
}

impl Pipeline {
    pub(crate) fn new(cx: context::Cx, routes: Table, documents: Table, fallback: Option<Fallback>) -> Self {
        let seconds = RequestSeconds::new(cx.config.metrics.listen.is_some());
        let budget = Budget::new(&cx.config);
        Self(Arc::new(Shared { cx, routes, documents, fallback, seconds, ids: RandomIds::default(), budget }))
    }
}

impl Service<Request> for Pipeline {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let shared = Arc::clone(&self.0);
        Box::pin(async move { Ok(shared.answer(request).await) })
    }
}

impl Shared {
    async fn answer(&self, mut request: Request) -> Response {
        let begun = Instant::now();
        let slash = path_normalisation::TrailingSlash(request.uri().path().ends_with('/'));
        let is_normal = path_normalisation::normalise(request.uri_mut());
        let Found { route, segments, negotiated } = self.find(&request);
        let id = RequestId::draw(&self.ids);
        let client = client_address(&request, &self.cx.config.server.trusted_proxies);
        let cx = Cx(self.cx.begin_request(id, client));
        let state = RequestState { negotiated, ..state_of(cx, client, route, &request) };
        let extensions = request.extensions_mut();
        extensions.insert(state.cx.clone());
        if slash.0 {
            extensions.insert(slash);
        }
        if let Some(limit) = state.policy.body_limit_bytes {
            extensions.insert(request_limits::BodyLimit(limit));
        }
        if let Some(files) = state.policy.files {
            extensions.insert(crate::request_limits::TakesFiles(files));
        }
        if let Some(segments) = segments {
            extensions.insert(segments);
        }
        let span = observe::span(&state, id);
        let answer = async {
            let response = if is_normal { self.run(&state, request).await } else { error::not_found() };
            let response = finish(&state, id, response).await;
            observe::answered(&self.seconds, &state, &response, begun.elapsed());
            response
        };
        answer.instrument(span).await
    }

    /// The route of `request`: of the two at a path, the one that it accepts.
    fn find(&self, request: &Request) -> Found<'_> {
        let path = request.uri().path();
        let (page, page_segments) = self.routes.find(path);
        match self.documents.find(path) {
            (None, _) => Found { route: page, segments: page_segments, negotiated: false },
            (Some(document), segments) => {
                let negotiated = page.is_some();
                if negotiated && !headers::accepts_document(request.headers()) {
                    return Found { route: page, segments: page_segments, negotiated };
                }
                Found { route: Some(document), segments, negotiated }
            }
        }
    }

    /// The answer as its handler, or the stage that refused the request, gives it.
    async fn run(&self, state: &RequestState<'_>, request: Request) -> Response {
        if let Some(methods) = state.policy.cors
            && headers::is_preflight(&request)
        {
            return headers::preflight(methods, request.headers());
        }
        if let Some(refusal) = ip_blocks::refuse(state) {
            return refusal;
        }
        let limit = match request_limits::time_limit(&state.cx, &request) {
            Ok(limit) => limit,
            Err(error) => return ErrorResponse(error).into_response(),
        };
        let answer = async { request_limits::within(limit, pin!(self.handle(state, request))).await };
        AssertUnwindSafe(answer).catch_unwind().await.unwrap_or_else(|_| error::panicked())
    }

    async fn handle(&self, state: &RequestState<'_>, request: Request) -> Response {
        let address = Key::address(state.client);
        let (parts, body) = request.into_parts();
        // Held until the response: it also removes the files of the upload.
        let (in_flight, body) = InFlight::count(&self.budget, || address, body);
        let (authentication, mut request) = match auth::authenticate(state, Request::from_parts(parts, body)).await {
            Ok(found) => found,
            Err(error) => return error.into_response(),
        };
        if state.policy.kind == RouteKind::Api {
            language::of_person(&state.cx, &authentication, &mut request);
        }
        if let Some(in_flight) = &in_flight {
            admit_body(state, &authentication, in_flight, request.extensions_mut());
        }
        let spent = rate_limits::spend(state, &request, &authentication);
        let mut response = if spent.is_some_and(|standing| standing.exceeded) {
            rate_limits::refuse(state)
        } else {
            self.serve(state, authentication, request).await
        };
        rate_limits::show(state, spent, response.headers_mut());
        response
    }

    /// The response of the handler, if this server is open to the caller.
    async fn serve(&self, state: &RequestState<'_>, authentication: Authentication, mut request: Request) -> Response {
        let authentication = of_moved(authentication, state.policy, request.method());
        if state.closed
            && let Some(refusal) = closed_server::refuse(state, &authentication, request.uri(), request.headers()).await
        {
            return refusal;
        }
        if let Some(refusal) = refuse_unusable(state, &authentication) {
            return refusal;
        }
        if !matches!(authentication, Authentication::Missing) {
            request.extensions_mut().insert(authentication);
        }
        match (state.route, self.fallback) {
            (Some(route), _) => call(state, route, request).await,
            (None, Some(fallback)) => fallback(state.cx.clone(), request).await.unwrap_or_else(error::not_found),
            (None, None) => error::not_found(),
        }
    }
}

/// The owner of an account that moved may read everything as before (docs/contract/rules.md#2-authentication).
fn of_moved(authentication: Authentication, policy: &Policy, method: &Method) -> Authentication {
    let open = method.is_safe() || policy.open_to_moved;
    match authentication {
        Authentication::Grant(grant) if open && grant.unusable == Some(Unusable::Moved) => {
            Authentication::Grant(Arc::new(Grant { unusable: None, ..Arc::unwrap_or_clone(grant) }))
        }
        other => other,
    }
}

/// The refusal of a suspended or disabled account, on every route of the API, public routes included
/// (docs/contract/rules.md#2-authentication).
fn refuse_unusable(state: &RequestState<'_>, authentication: &Authentication) -> Option<Response> {
    let Authentication::Grant(grant) = authentication else { return None };
    if state.route.is_none() || state.policy.kind != RouteKind::Api || state.policy.judges_accounts {
        return None;
    }
    match grant.person().err()? {
        why @ (Unusable::Suspended | Unusable::Disabled) => Some(ErrorResponse(unusable(why)).into_response()),
        Unusable::Unconfirmed | Unusable::Pending | Unusable::Memorial | Unusable::Moved => None,
    }
}

/// The route of a request, with the values of its parameters.
struct Found<'a> {
    route: Option<&'a Route>,
    segments: Option<Segments>,
    /// There is a page and a document at the path.
    negotiated: bool,
}

/// Notes whose body it is, and how large it may be: a stranger's at the API is small.
fn admit_body(
    state: &RequestState<'_>,
    authentication: &Authentication,
    in_flight: &Arc<InFlight>,
    extensions: &mut Extensions,
) {
    match authentication {
        Authentication::Grant(grant) => {
            if let Some(actor) = &grant.actor {
                in_flight.belongs_to(Key::Person(actor.id));
            }
        }
        Authentication::Missing | Authentication::Invalid | Authentication::Unknown => {
            if state.route.is_some() && state.policy.kind == RouteKind::Api {
                let most = state.policy.body_limit_bytes.unwrap_or(SMALL_BODY_BYTES);
                extensions.insert(request_limits::BodyLimit(most));
            }
        }
    }
    extensions.insert(Arc::clone(in_flight));
}

/// The answer of a route's handler, with the cookies that it set.
async fn call(state: &RequestState<'_>, route: &Route, mut request: Request) -> Response {
    let Some(endpoint) = route.endpoint(&state.method) else { return error::not_found() };
    if !route.cookies {
        return endpoint.call(request).await;
    }
    let cookies = Cookies::read(&state.cx, request.headers());
    request.extensions_mut().insert(cookies.clone());
    let mut response = endpoint.call(request).await;
    cookies.write(response.headers_mut());
    response
}

/// What every answer gets.
async fn finish(state: &RequestState<'_>, id: RequestId, response: Response) -> Response {
    let mut response = web::error_as_page(state, response);
    error::add_request_id(&mut response, id);
    if state.policy.kind == RouteKind::Api {
        response = language::translate(&state.cx, response).await;
    }
    headers::complete(state, &mut response);
    if let Ok(id) = HeaderValue::from_str(id.as_str()) {
        response.headers_mut().insert(headers::REQUEST_ID, id);
    }
    if state.method == Method::HEAD {
        leave_body_out(&mut response);
    }
    compress::compress(state.encodings.as_ref(), response).await
}

/// Answers HEAD with what GET would say of its body.
fn leave_body_out(response: &mut Response) {
    let length = response.body().size_hint().exact().filter(|length| *length > 0);
    if let Some(length) = length {
        response.headers_mut().entry(header::CONTENT_LENGTH).or_insert(HeaderValue::from(length));
    }
    *response.body_mut() = Body::empty();
}

/// The state of `request`, which matched `route`.
fn state_of<'a>(cx: Cx, client: IpAddr, route: Option<&'a Route>, request: &Request) -> RequestState<'a> {
    let policy = route.map_or_else(|| Policy::fallback(request.uri().path()), |route| &route.policy);
    let query = request.uri().query().unwrap_or_default();
    if let Some(language) = language::of_request(policy.kind, request) {
        cx.speak(language);
    }
    RequestState {
        negotiated: false,
        closed: closed_server::is_closed(&cx, policy, request.method()),
        carries: Carries::of(request.headers(), query),
        pages: rate_limits::is_paging(query),
        wants_page: web::wants_page(policy.kind, request.headers()),
        encodings: request.headers().get(header::ACCEPT_ENCODING).cloned(),
        client,
        method: request.method().clone(),
        cx,
        route,
        policy,
    }
}
