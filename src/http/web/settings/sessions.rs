//! The page of the user's browser sessions, where each can be signed out.

use axum::response::Response;
use minijinja::{Value, context};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Frame;
use crate::error::Result;
use crate::web::{Form, Page};
use model::RowId;
use service::session::{self, Browser};

/// Where this page is.
const PATH: &str = "/settings/sessions";
/// Longest name of an unknown browser, in characters.
const NAME_MAX: usize = 60;

/// Which session ends; without, all but the one of this browser.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Ended {
    id: Option<RowId>,
}

/// `GET /settings/sessions`
pub async fn index(frame: Frame) -> Result<Page> {
    let browsers = session::list(&frame.cx, frame.person.account.id).await?;
    let sessions: Vec<Value> = browsers.iter().map(|browser| row(&frame, browser)).collect();
    frame.page("sessions", "settings.sessions", "settings/sessions.html", context! { sessions })
}

/// `POST /settings/sessions`
///
/// # Errors
/// [`NotFound`](context::Error::NotFound) for a session that is over, or someone else's.
pub async fn delete(frame: Frame, Form(form): Form<Ended>) -> Result<Response> {
    match form.id {
        Some(id) => {
            session::end_one(&frame.cx, frame.person.account.id, id).await?;
            Ok(frame.done("sessions.ended", PATH))
        }
        None => {
            session::end_others(&frame.cx, &frame.person).await?;
            Ok(frame.done("sessions.ended_others", PATH))
        }
    }
}

fn row(frame: &Frame, browser: &Browser) -> Value {
    context! {
        id => browser.id.to_string(),
        name => name(&browser.name).unwrap_or_else(|| frame.say("sessions.unknown")),
        is_this => browser.id == frame.person.session,
        last_used_iso => browser.last_used_at.to_api_date(),
        last_used_human => frame.cx.language().day(&browser.last_used_at),
    }
}

/// The common names of a browser and its system, from the header `User-Agent`: `Firefox · Linux`. `None` when it
/// says nothing.
fn name(agent: &str) -> Option<String> {
    // Browsers that imitate others come first.
    let browsers = [
        ("Edg", "Edge"),
        ("OPR/", "Opera"),
        ("Vivaldi/", "Vivaldi"),
        ("SamsungBrowser/", "Samsung Internet"),
        ("Firefox/", "Firefox"),
        ("FxiOS/", "Firefox"),
        ("CriOS/", "Chrome"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ];
    let systems = [
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Android", "Android"),
        ("Windows", "Windows"),
        ("CrOS", "ChromeOS"),
        ("Mac OS X", "macOS"),
        ("Linux", "Linux"),
    ];
    let find =
        |known: &[(&str, &'static str)]| known.iter().find(|(part, _)| agent.contains(part)).map(|(_, name)| *name);
    match (find(&browsers), find(&systems)) {
        (Some(browser), Some(system)) => Some(format!("{browser} · {system}")),
        (Some(browser), None) => Some(browser.to_owned()),
        _ if agent.trim().is_empty() => None,
        _ => Some(agent.chars().take(NAME_MAX).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browser_is_named_as_people_call_it() {
        let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
        assert_eq!(name(firefox).as_deref(), Some("Firefox · Linux"));
        let edge = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0";
        assert_eq!(name(edge).as_deref(), Some("Edge · Windows"));
        let safari = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18.0 Safari/604.1";
        assert_eq!(name(safari).as_deref(), Some("Safari · iPhone"));
        assert_eq!(name("w3m/0.5").as_deref(), Some("w3m/0.5"));
        assert_eq!(name(" "), None);
    }
}
