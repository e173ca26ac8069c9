//! May this application act for you? The pages of the authorization request.
//!
//! Reached from `/oauth/authorize` with a browser. A request whose redirect URI is not certain is answered with a page;
//! everything else goes back to the application, but only once someone is signed in, so that this server never redirects
//! a stranger (RFC 9700, section 4.11).

use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use minijinja::context;
use serde::Deserialize;

use super::redirect::{Pairs, answer, destination};
use super::{error, scopes};
use crate::app::App;
use crate::error::Result;
use crate::http::extract::Params;
use crate::http::extract::params::{flag, text};
use crate::http::web::session::sign_in_url;
use crate::http::web::{self, Csrf, Form, Hidden, Page, SignedIn, WebSession, avatar_url, display_name_html, redirect};
use crate::service::oauth::Fault;
use crate::service::oauth::authorize::{self, Checked, Request};
use crate::service::session::Person;
use model::Application;
use model::oauth::{ErrorCode, OUT_OF_BAND};

/// The request's parameters; in the form, with what the person decided.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Asked {
    #[serde(deserialize_with = "text")]
    response_type: Option<String>,
    #[serde(deserialize_with = "text")]
    response_mode: Option<String>,
    #[serde(deserialize_with = "text")]
    client_id: Option<String>,
    #[serde(deserialize_with = "text")]
    redirect_uri: Option<String>,
    #[serde(deserialize_with = "text")]
    scope: Option<String>,
    #[serde(deserialize_with = "text")]
    state: Option<String>,
    #[serde(deserialize_with = "text")]
    code_challenge: Option<String>,
    #[serde(deserialize_with = "text")]
    code_challenge_method: Option<String>,
    #[serde(deserialize_with = "flag")]
    force_login: Option<bool>,
    #[serde(deserialize_with = "text")]
    decision: Option<String>,
    #[serde(deserialize_with = "text", rename = "_method")]
    method: Option<String>,
}

/// A code, or an error, to be shown.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Native {
    #[serde(deserialize_with = "text")]
    code: Option<String>,
}

/// `GET /oauth/authorize`
///
/// # Errors
/// 401 for an unknown application, 400 for a redirect URI that is not one of its own.
pub async fn show(
    State(app): State<App>,
    WebSession(person): WebSession,
    csrf: Csrf,
    uri: Uri,
    Params(asked): Params<Asked>,
) -> Result<Response> {
    let request = asked.request();
    let client = authorize::client(&app, &request).await?;
    let Some(person) = person else {
        let here = uri.path_and_query().map_or("/oauth/authorize", |url| url.as_str());
        return Ok(redirect(&sign_in_url(here)));
    };
    let checked = match authorize::check(&client, &request) {
        Ok(checked) => checked,
        Err(fault) => return refuse(&app, &client, &request, &fault),
    };
    let asks =
        asked.force_login == Some(true) || !authorize::is_settled(&app, &client, person.account.id, &checked).await?;
    if asks {
        return Ok(consent(&app, &client, &person, &csrf, &asked, &checked)?.into_response());
    }
    grant(&app, &client, &person, &request, checked).await
}

/// `POST /oauth/authorize`: the person decided.
///
/// # Errors
/// As [`show`].
pub async fn create(
    State(app): State<App>,
    WebSession(person): WebSession,
    Form(asked): Form<Asked>,
) -> Result<Response> {
    // The session ended while the person read: they are asked again after sign-in.
    let Some(person) = person else { return Ok(redirect(&sign_in_url(&asked.address()))) };
    let denied = asked.decision.as_deref() == Some("deny") || asked.method.as_deref() == Some("delete");
    decide(&app, &person, &asked, !denied).await
}

/// `DELETE /oauth/authorize`: the person refused.
///
/// # Errors
/// As [`show`].
pub async fn delete(State(app): State<App>, SignedIn(person): SignedIn, Form(asked): Form<Asked>) -> Result<Response> {
    decide(&app, &person, &asked, false).await
}

/// `GET /oauth/authorize/native`: the code, for an application that has no address.
///
/// # Errors
/// 400 without a code.
pub async fn native(State(app): State<App>, Params(native): Params<Native>) -> Result<Page> {
    let code = native.code.filter(|code| !code.is_empty()).ok_or_else(|| crate::error::Error::missing("code"))?;
    let context = context! { page_title => "Your authorisation code", noindex => true, code => code };
    Ok(Page::render(&app, "code.html", context)?.unstored().without_referrer())
}

async fn decide(app: &App, person: &Person, asked: &Asked, allowed: bool) -> Result<Response> {
    let request = asked.request();
    let client = authorize::client(app, &request).await?;
    match authorize::check(&client, &request) {
        Ok(checked) if allowed => grant(app, &client, person, &request, checked).await,
        Ok(_) => {
            let fault = Fault::refused(ErrorCode::AccessDenied, "The person refused");
            refuse(app, &client, &request, &fault)
        }
        Err(fault) => refuse(app, &client, &request, &fault),
    }
}

async fn grant(
    app: &App,
    client: &Application,
    person: &Person,
    request: &Request,
    checked: Checked,
) -> Result<Response> {
    let code = authorize::authorize(app, client, person.account.id, request, checked).await?;
    let pairs = vec![("code", code.expose().to_owned())];
    let uri = request.redirect_uri.as_deref().unwrap_or_default();
    if uri == OUT_OF_BAND {
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        return Ok(redirect(&format!("/oauth/authorize/native?{query}")));
    }
    answer(app, &client.name, uri, authorize::mode(request), with_state(pairs, request))
}

/// Tells the application why there is no code; where it has no address, the person.
fn refuse(app: &App, client: &Application, request: &Request, fault: &Fault) -> Result<Response> {
    let (code, description) = error::words(fault);
    let uri = request.redirect_uri.as_deref().unwrap_or_default();
    if uri == OUT_OF_BAND {
        return Ok(web::error_page(app, StatusCode::BAD_REQUEST, &description));
    }
    let pairs = vec![("error", code.to_string()), ("error_description", description)];
    answer(app, &client.name, uri, authorize::mode(request), with_state(pairs, request))
}

fn with_state(mut pairs: Pairs, request: &Request) -> Pairs {
    pairs.extend(request.state.clone().map(|state| ("state", state)));
    pairs
}

fn consent(
    app: &App,
    client: &Application,
    person: &Person,
    csrf: &Csrf,
    asked: &Asked,
    checked: &Checked,
) -> Result<Page> {
    let context = context! {
        page_title => format!("Let {} in?", client.name),
        noindex => true,
        csrf => csrf.0,
        hidden => asked.hidden(),
        here => asked.address(),
        app => context! { name => client.name, website => client.website },
        redirect_host => asked.redirect_uri.as_deref().and_then(destination),
        scopes => scopes::describe(&checked.scopes),
        account => context! {
            display_name_html => display_name_html(&person.account),
            acct => person.account.acct(),
            avatar => avatar_url(app, &person.account),
        },
    };
    Ok(Page::render(app, "consent.html", context)?.leading_elsewhere().without_referrer())
}

impl Asked {
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

    /// Where the request is asked about.
    fn address(&self) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(self.hidden().iter().map(|field| (field.name, field.value.as_str())));
        format!("/oauth/authorize?{}", query.finish())
    }

    /// The request, for the form that decides it.
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
