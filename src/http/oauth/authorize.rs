//! The authorization endpoint and its consent page (RFC 6749, section 4.1).
//!
//! Reached from `/oauth/authorize` with a browser. A request whose client or redirect URI is invalid is answered with
//! an error page; every other error is sent to the application, but only once the user is signed in, so that this
//! server is no open redirector (RFC 9700, section 4.11). Validation is in `service::oauth::authorize`.

use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use minijinja::context;
use schemars::JsonSchema;
use serde::Deserialize;

use super::redirect::{ResponseParams, answer, destination};
use super::{error, scopes};
use crate::Cx;
use crate::error::Result;
use crate::extract::Params;
use crate::web::session::sign_in_url;
use crate::web::{self, Csrf, Form, Hidden, Page, SignedIn, WebSession, avatar_url, display_name_html, redirect};
use model::Application;
use model::oauth::{ErrorCode, OUT_OF_BAND};
use model::params::required;
use service::oauth::Fault;
use service::oauth::authorize::{self, Checked, Request};
use service::session::Person;

/// Parameters of an authorization request; from the consent form, with the user's decision.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct AuthorizationParams {
    /// `code`, the only grant by browser.
    #[schemars(transform = required)]
    response_type: Option<String>,
    /// `query`, `fragment` or `form_post`.
    response_mode: Option<String>,
    #[schemars(transform = required)]
    client_id: Option<String>,
    /// One that the application registered, byte for byte.
    #[schemars(transform = required)]
    redirect_uri: Option<String>,
    /// Separated by spaces; `read` when it is left out.
    scope: Option<String>,
    /// Comes back with the answer.
    state: Option<String>,
    code_challenge: Option<String>,
    /// `S256` (RFC 7636).
    code_challenge_method: Option<String>,
    /// Whether to ask the user even where access was allowed before.
    force_login: Option<bool>,
    /// `deny`, from the form.
    decision: Option<String>,
    /// `delete`, from the form: denies as well.
    #[serde(rename = "_method")]
    method: Option<String>,
}

/// Query parameters of [`native`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct NativeParams {
    #[schemars(transform = required)]
    code: Option<String>,
}

/// `GET /oauth/authorize`
///
/// # Errors
/// 401 for an unknown application, 400 for a redirect URI that is not registered.
pub async fn show(
    cx: Cx,
    WebSession(person): WebSession,
    csrf: Csrf,
    uri: Uri,
    Params(asked): Params<AuthorizationParams>,
) -> Result<Response> {
    let request = asked.request();
    let client = authorize::client(&cx, &request).await?;
    let Some(person) = person else {
        let here = uri.path_and_query().map_or("/oauth/authorize", |url| url.as_str());
        return Ok(redirect(&sign_in_url(here)));
    };
    let checked = match authorize::check(&cx, &client, &request) {
        Ok(checked) => checked,
        Err(fault) => return refuse(&cx, &client, &request, &fault),
    };
    let asks =
        asked.force_login == Some(true) || !authorize::is_settled(&cx, &client, person.account.id, &checked).await?;
    if asks {
        return Ok(consent(&cx, &client, &person, &csrf, &asked, &checked)?.into_response());
    }
    grant(&cx, &client, &person, &request, checked).await
}

/// `POST /oauth/authorize`: the user's decision on the consent page.
///
/// # Errors
/// As [`show`].
pub async fn create(
    cx: Cx,
    WebSession(person): WebSession,
    Form(asked): Form<AuthorizationParams>,
) -> Result<Response> {
    // The session ended while the consent page was open: it is shown again after sign-in.
    let Some(person) = person else { return Ok(redirect(&sign_in_url(&asked.address()))) };
    let denied = asked.decision.as_deref() == Some("deny") || asked.method.as_deref() == Some("delete");
    decide(&cx, &person, &asked, !denied).await
}

/// `DELETE /oauth/authorize`: the user denied access.
///
/// # Errors
/// As [`show`].
pub async fn delete(cx: Cx, SignedIn(person): SignedIn, Form(asked): Form<AuthorizationParams>) -> Result<Response> {
    decide(&cx, &person, &asked, false).await
}

/// `GET /oauth/authorize/native`: shows the code to copy, for an application without a redirect URI (out of band).
///
/// # Errors
/// 400 without a code.
pub async fn native(cx: Cx, Params(native): Params<NativeParams>) -> Result<Page> {
    let code = native.code.filter(|code| !code.is_empty()).ok_or_else(|| context::error::Error::missing("code"))?;
    let context = context! { page_title => cx.language().say("code.title"), noindex => true, code => code };
    Ok(Page::render(&cx, "code.html", context)?.no_store().without_referrer())
}

async fn decide(cx: &Cx, person: &Person, asked: &AuthorizationParams, allowed: bool) -> Result<Response> {
    let request = asked.request();
    let client = authorize::client(cx, &request).await?;
    match authorize::check(cx, &client, &request) {
        Ok(checked) if allowed => grant(cx, &client, person, &request, checked).await,
        Ok(_) => {
            let fault = Fault::refused(ErrorCode::AccessDenied, "The person refused");
            refuse(cx, &client, &request, &fault)
        }
        Err(fault) => refuse(cx, &client, &request, &fault),
    }
}

async fn grant(
    cx: &Cx,
    client: &Application,
    person: &Person,
    request: &Request,
    checked: Checked,
) -> Result<Response> {
    let code = authorize::authorize(cx, client, person.account.id, request, checked).await?;
    let pairs = vec![("code", code.expose().to_owned())];
    let uri = request.redirect_uri.as_deref().unwrap_or_default();
    if uri == OUT_OF_BAND {
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        return Ok(redirect(&format!("/oauth/authorize/native?{query}")));
    }
    answer(cx, &client.name, uri, authorize::mode(request), with_state(pairs, request))
}

/// Sends an error to the application, or shows it to the user when the application has no redirect URI.
fn refuse(cx: &Cx, client: &Application, request: &Request, fault: &Fault) -> Result<Response> {
    let (code, description) = error::words(fault);
    let uri = request.redirect_uri.as_deref().unwrap_or_default();
    if uri == OUT_OF_BAND {
        return Ok(web::error_page(cx, StatusCode::BAD_REQUEST, &description));
    }
    let pairs = vec![("error", code.to_string()), ("error_description", description)];
    answer(cx, &client.name, uri, authorize::mode(request), with_state(pairs, request))
}

fn with_state(mut pairs: ResponseParams, request: &Request) -> ResponseParams {
    pairs.extend(request.state.clone().map(|state| ("state", state)));
    pairs
}

fn consent(
    cx: &Cx,
    client: &Application,
    person: &Person,
    csrf: &Csrf,
    asked: &AuthorizationParams,
    checked: &Checked,
) -> Result<Page> {
    let context = context! {
        page_title => cx.language().say_with("consent.title", &[("app", &client.name)]),
        noindex => true,
        csrf => csrf.0,
        hidden => asked.hidden(),
        here => asked.address(),
        app => context! { name => client.name, website => client.website },
        redirect_host => asked.redirect_uri.as_deref().and_then(destination),
        scopes => scopes::describe(cx, &checked.scopes),
        account => context! {
            display_name_html => display_name_html(&person.account),
            acct => person.account.acct(),
            avatar => avatar_url(cx, &person.account),
        },
    };
    Ok(Page::render(cx, "consent.html", context)?.allowing_external_redirect().without_referrer())
}

impl AuthorizationParams {
    fn request(&self) -> Request {
        Request {
            response_type: self.response_type.clone(),
            response_mode: self.response_mode.clone(),
            client_id: self.client_id.clone(),
            redirect_uri: self.redirect_uri.clone(),
            scope: self.scope.clone(),
            state: self.state.clone(),
            code_challenge: self.code_challenge.clone(),
            code_challenge_method: self.code_challenge_method.clone(),
        }
    }

    /// The URL of the consent page for this request.
    fn address(&self) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(self.hidden().iter().map(|field| (field.name, field.value.as_str())));
        format!("/oauth/authorize?{}", query.finish())
    }

    /// The request as hidden fields of the consent form.
    fn hidden(&self) -> Vec<Hidden> {
        let fields = [
            ("response_type", &self.response_type),
            ("response_mode", &self.response_mode),
            ("client_id", &self.client_id),
            ("redirect_uri", &self.redirect_uri),
            ("scope", &self.scope),
            ("state", &self.state),
            ("code_challenge", &self.code_challenge),
            ("code_challenge_method", &self.code_challenge_method),
        ];
        fields.into_iter().filter_map(|(name, value)| Some(Hidden { name, value: value.clone()? })).collect()
    }
}
