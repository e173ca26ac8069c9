//! OAuth applications (clients): registration, and listing those a user has authorised.
//!
//! Reached from `POST /api/v1/apps` and from the settings. Spec: docs/contract/rules.md#8-oauth-and-sign-up.

use std::collections::BTreeMap;

use crate::oauth;
use context::Cx;
use context::error::{Error, Result};
use crypto::Secret;
use database::Tx;
use model::oauth::OUT_OF_BAND;
use model::{AccountId, AppId, Application, Scopes, Time};

/// The client id of the command line, shorter than any random one.
const COMMAND_LINE: &str = "rookery-command-line";
/// Longest name, in characters.
const NAME_MAX: usize = 60;
/// Longest list of redirect URIs, joined, in characters.
const REDIRECT_URIS_MAX: usize = 2000;
/// Longest website URL, in characters.
const WEBSITE_MAX: usize = 2000;
/// Schemes refused in redirect URIs: a browser would run the content instead of leaving the page.
const FORBIDDEN_SCHEMES: [&str; 3] = ["data", "vbscript", "javascript"];

/// A registration request.
#[derive(Debug, Default)]
pub struct Registration {
    pub client_name: Option<String>,
    /// Each may contain several, separated by white space.
    pub redirect_uris: Vec<String>,
    pub scopes: Option<String>,
    pub website: Option<String>,
}

/// Registers an application. The client secret is returned only here; only its hash is stored.
///
/// # Errors
/// [`Error::Invalid`] naming the parameter that is missing, too long or malformed.
#[model::use_case]
pub async fn register(cx: &Cx, wanted: Registration) -> Result<(Application, Secret)> {
    let secret = crypto::random_text(32);
    let application = Application {
        id: cx.ids.next(),
        name: checked_name(wanted.client_name)?,
        redirect_uris: checked_redirect_uris(&wanted.redirect_uris)?,
        scopes: checked_scopes(cx, wanted.scopes.as_deref())?.to_string(),
        website: checked_website(wanted.website)?,
        client_id: crypto::random_text(32),
        client_secret_hash: crypto::hash(&secret),
        superapp: false,
        created_at: cx.clock.now(),
    };
    let mut tx = cx.db.begin().await?;
    store::application::insert(&mut tx, &application).await?;
    tx.commit().await?;
    Ok((application, Secret::from(secret)))
}

/// The application of tokens issued by the command line, shown on statuses written with them. Created on first use;
/// its secret is not known to anyone.
#[model::use_case]
pub async fn command_line(cx: &Cx, tx: &mut Tx) -> Result<AppId> {
    if let Some(known) = store::application::find_by_client_id(&mut *tx, COMMAND_LINE).await? {
        return Ok(known.id);
    }
    let application = Application {
        id: cx.ids.next(),
        name: "Command line".to_owned(),
        redirect_uris: OUT_OF_BAND.to_owned(),
        scopes: String::new(),
        website: None,
        client_id: COMMAND_LINE.to_owned(),
        client_secret_hash: crypto::hash(&crypto::random_text(32)),
        superapp: false,
        created_at: cx.clock.now(),
    };
    store::application::insert(tx, &application).await?;
    Ok(application.id)
}

fn checked_name(name: Option<String>) -> Result<String> {
    let name = name.unwrap_or_default().trim().to_owned();
    match name.chars().count() {
        0 => Err(Error::invalid("client_name can't be blank")),
        length if length > NAME_MAX => {
            Err(Error::invalid(format!("client_name is too long (maximum is {NAME_MAX} characters)")))
        }
        _ => Ok(name),
    }
}

fn checked_redirect_uris(sent: &[String]) -> Result<String> {
    let uris: Vec<&str> = sent.iter().flat_map(|text| text.split_whitespace()).collect();
    if uris.is_empty() {
        return Err(Error::invalid("redirect_uris can't be blank"));
    }
    let joined = uris.join("\n");
    if joined.chars().count() > REDIRECT_URIS_MAX {
        return Err(Error::invalid(format!("redirect_uris is too long (maximum is {REDIRECT_URIS_MAX} characters)")));
    }
    for uri in uris {
        check_redirect_uri(uri)?;
    }
    Ok(joined)
}

fn check_redirect_uri(uri: &str) -> Result<()> {
    if uri == OUT_OF_BAND {
        return Ok(());
    }
    let parsed = url::Url::parse(uri).map_err(|_| Error::invalid("redirect_uris must be absolute URIs"))?;
    if parsed.fragment().is_some() {
        return Err(Error::invalid("redirect_uris must not have a fragment"));
    }
    if FORBIDDEN_SCHEMES.contains(&parsed.scheme()) {
        return Err(Error::invalid(format!("redirect_uris must not use the scheme {}", parsed.scheme())));
    }
    if uri.chars().any(char::is_control) {
        return Err(Error::invalid("redirect_uris must not contain control characters"));
    }
    Ok(())
}

fn checked_scopes(cx: &Cx, sent: Option<&str>) -> Result<Scopes> {
    let text = sent.filter(|text| !text.trim().is_empty()).unwrap_or("read");
    oauth::read_scopes(cx, text).map_err(|word| Error::invalid(format!("scopes: {word} is not a scope")))
}

fn checked_website(sent: Option<String>) -> Result<Option<String>> {
    let Some(website) = sent.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    if website.chars().count() > WEBSITE_MAX {
        return Err(Error::invalid(format!("website is too long (maximum is {WEBSITE_MAX} characters)")));
    }
    match url::Url::parse(&website) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(Some(website)),
        _ => Err(Error::invalid("website must be an http or https address")),
    }
}

/// The application with this id, as stored with a token.
///
/// # Errors
/// [`Error::NotFound`] when there is none: the token was issued by the command line.
#[model::use_case]
pub async fn get(cx: &Cx, id: Option<AppId>) -> Result<Application> {
    let id = id.ok_or(Error::NotFound)?;
    store::application::find(&cx.db, id).await?.ok_or(Error::NotFound)
}

/// The name of the application with this client id.
#[model::use_case]
pub async fn name(cx: &Cx, client_id: &str) -> Result<Option<String>> {
    let found = store::application::find_by_client_id(&cx.db, client_id).await?;
    Ok(found.map(|application| application.name))
}

/// An application that a user authorised.
#[derive(Debug)]
pub struct Authorized {
    pub id: AppId,
    pub name: String,
    pub website: Option<String>,
    pub scopes: Scopes,
    /// When its oldest valid token was issued.
    pub since: Time,
    pub last_used_at: Option<Time>,
}

/// The applications that hold a token of `account`, most recently registered first.
#[model::use_case]
pub async fn list_authorized(cx: &Cx, account: AccountId) -> Result<Vec<Authorized>> {
    let mut found: BTreeMap<AppId, (Authorized, String)> = BTreeMap::new();
    for row in store::application::list_held(&cx.db, account).await? {
        let (held, scopes) = found.entry(row.id).or_insert_with(|| {
            let held = Authorized {
                id: row.id,
                name: row.name,
                website: row.website,
                scopes: Scopes::default(),
                since: row.created_at,
                last_used_at: None,
            };
            (held, String::new())
        });
        held.since = held.since.min(row.created_at);
        held.last_used_at = held.last_used_at.max(row.last_used_at);
        scopes.push_str(&row.scopes);
        scopes.push(' ');
    }
    let finished = |(held, scopes): (Authorized, String)| Authorized { scopes: Scopes::from_stored(&scopes), ..held };
    Ok(found.into_values().rev().map(finished).collect())
}
