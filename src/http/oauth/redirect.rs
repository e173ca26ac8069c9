//! The authorization response: sends the browser back to the application's redirect URI.

use axum::response::{IntoResponse, Response};
use minijinja::context;

use crate::Cx;
use crate::error::Result;
use crate::web::{Hidden, Page, redirect};
use model::oauth::ResponseMode;

/// The parameters of an authorization response: a code or an error.
pub(super) type ResponseParams = Vec<(&'static str, String)>;

/// Sends `pairs` to `uri` in the given response mode. The URI itself is kept byte for byte as it was registered.
pub(super) fn answer(
    cx: &Cx,
    application: &str,
    uri: &str,
    mode: ResponseMode,
    pairs: ResponseParams,
) -> Result<Response> {
    match mode {
        ResponseMode::Query => Ok(redirect(&with_query(uri, &pairs))),
        ResponseMode::Fragment => Ok(redirect(&format!("{uri}#{}", encode(&pairs)))),
        ResponseMode::FormPost => {
            let denied = pairs.iter().any(|(name, _)| *name == "error");
            let hidden: Vec<Hidden> = pairs.into_iter().map(|(name, value)| Hidden { name, value }).collect();
            let context = context! {
                page_title => cx.language().say_with("form_post.back", &[("app", &application)]),
                noindex => true,
                action => uri,
                hidden => hidden,
                app_name => application,
                denied => denied,
            };
            Ok(Page::render(cx, "form_post.html", context)?.allowing_external_redirect().no_store().into_response())
        }
    }
}

fn with_query(uri: &str, pairs: &ResponseParams) -> String {
    let separator = match uri.split_once('?') {
        None => "?",
        Some((_, query)) if query.is_empty() || query.ends_with('&') => "",
        Some(_) => "&",
    };
    format!("{uri}{separator}{}", encode(pairs))
}

fn encode(pairs: &ResponseParams) -> String {
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

/// Where the response goes, as shown on the consent page: the host, or the URI scheme of an installed app.
pub(super) fn destination(uri: &str) -> Option<String> {
    let url = url::Url::parse(uri).ok()?;
    match (url.scheme(), url.host_str()) {
        ("http" | "https", Some(host)) => Some(host.to_owned()),
        ("urn", _) => None,
        (scheme, _) => Some(format!("{scheme}:")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_is_added_to_registered_address() {
        let pairs = vec![("code", "a b".to_owned()), ("state", "&=".to_owned())];
        assert_eq!(with_query("https://app.test/cb", &pairs), "https://app.test/cb?code=a+b&state=%26%3D");
        assert_eq!(with_query("app://cb?x=1", &pairs), "app://cb?x=1&code=a+b&state=%26%3D");
        assert_eq!(with_query("app:?", &pairs), "app:?code=a+b&state=%26%3D");
    }

    #[test]
    fn destination_is_host_or_scheme() {
        assert_eq!(destination("https://app.test:8080/cb").as_deref(), Some("app.test"));
        assert_eq!(destination("org.app:/cb").as_deref(), Some("org.app:"));
        assert_eq!(destination("urn:ietf:wg:oauth:2.0:oob"), None);
    }
}
