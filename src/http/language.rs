//! The language of a request, and errors of the API in it.
//!
//! A page is in the language that the browser prefers, until a session is read. An error of the API is in the language
//! of the parameter `lang`, else the locale of the account, else the one that `Accept-Language` prefers, else the one of
//! the server. Services state errors in English; the table `errors` of the messages has the translations, and texts
//! without one stay as they are. Spec: docs/contract/rules.md#3-errors

use axum::body::{Body, HttpBody as _, to_bytes};
use axum::extract::Request;
use axum::http::{Extensions, HeaderMap, HeaderValue, Uri, header};
use axum::response::Response;
use serde_json::{Map, Value};

use super::auth::Authentication;
use super::error::Failure;
use super::policy::RouteKind;
use crate::Cx;
use context::messages::Language;

/// The parameter that names the language of errors.
const LANG: &str = "lang";
/// The largest body that is translated, in bytes.
const MOST_BYTES: usize = 64 * 1024;
/// How the text of a validation error of the API begins in English.
const INVALID: &str = "Validation failed: ";

/// The language that the header `Accept-Language` prefers, of those that messages have.
pub(crate) fn accepted(headers: &HeaderMap) -> Option<Language> {
    Language::accepted(headers.get(header::ACCEPT_LANGUAGE)?.to_str().ok()?)
}

/// The language that `request` prefers, before its token and its body are read.
pub(crate) fn of_request(kind: RouteKind, request: &Request) -> Option<Language> {
    let named = (kind == RouteKind::Api).then(|| of_query(request.uri())).flatten();
    named.or_else(|| accepted(request.headers()))
}

/// The parameter `lang` in the query of a request.
fn of_query(uri: &Uri) -> Option<Language> {
    let mut pairs = url::form_urlencoded::parse(uri.query()?.as_bytes());
    pairs.find(|(name, _)| name == LANG).and_then(|(_, value)| Language::of(&value))
}

/// Marks a request to the API, whose body may name the language of errors, in its extensions.
#[derive(Clone, Copy, Debug)]
struct TakesLang;

/// The locale of the account of a request to the API, unless its query names a language.
pub(crate) fn of_person(cx: &Cx, authentication: &Authentication, request: &mut Request) {
    request.extensions_mut().insert(TakesLang);
    let Authentication::Grant(grant) = authentication else { return };
    let locale = grant.actor.as_ref().and_then(|actor| actor.locale.as_deref()).and_then(Language::of);
    if let Some(language) = locale.filter(|_| of_query(request.uri()).is_none()) {
        cx.speak(language);
    }
}

/// The parameter `lang` of the query and body of a request to the API, which goes before everything else.
pub(crate) fn of_params(cx: &Cx, extensions: &Extensions, params: &Value) {
    if extensions.get::<TakesLang>().is_some()
        && let Some(language) = params.get(LANG).and_then(Value::as_str).and_then(Language::of)
    {
        cx.speak(language);
    }
}

/// Translates the texts of an error of the API.
pub(crate) async fn translate(cx: &Cx, response: Response) -> Response {
    let language = cx.language();
    let size = response.body().size_hint().exact();
    let is_error = response.extensions().get::<Failure>().is_some();
    if language == Language::English || !is_error || size.is_none_or(|size| size > MOST_BYTES as u64) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, MOST_BYTES).await else { return Response::from_parts(parts, Body::empty()) };
    let Some(translated) = translated(language, &bytes) else { return Response::from_parts(parts, bytes.into()) };
    parts.headers.insert(header::CONTENT_LANGUAGE, HeaderValue::from_static(language.code()));
    Response::from_parts(parts, translated.into())
}

/// The body of an error in `language`; `None` when it is none, or has no translation.
fn translated(language: Language, body: &[u8]) -> Option<Vec<u8>> {
    let mut object: Map<String, Value> = serde_json::from_slice(body).ok()?;
    let text = sentence(language, object.get("error")?.as_str()?)?;
    object.insert("error".to_owned(), text.into());
    if let Some(Value::Object(details)) = object.get_mut("details") {
        let faults = details.values_mut().filter_map(Value::as_array_mut).flatten();
        for description in faults.filter_map(|fault| fault.get_mut("description")) {
            if let Some(text) = description.as_str().and_then(|text| language.say_error(text)) {
                *description = text.into();
            }
        }
    }
    serde_json::to_vec(&object).ok()
}

/// The text of an error in `language`. Of a validation error, which names several faults, each that has a translation.
fn sentence(language: Language, text: &str) -> Option<String> {
    if let Some(text) = language.say_error(text) {
        return Some(text);
    }
    let faults: Vec<String> = text.strip_prefix(INVALID)?.split(", ").map(|text| fault(language, text)).collect();
    Some(language.say_with("api_errors.invalid", &[("faults", &faults.join(" "))]))
}

/// A fault: the name of an attribute, and what is wrong with it.
fn fault(language: Language, text: &str) -> String {
    let named = text.match_indices(' ').find_map(|(at, _)| {
        let (name, phrase) = (&text[..at], &text[at + 1..]);
        language.say_error(phrase).map(|phrase| format!("{name}: {phrase}"))
    });
    named.or_else(|| language.say_error(text)).unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_known_fault_of_a_validation_error_is_translated() {
        let text = "Validation failed: username has already been taken, date of birth can't be blank, odd is odd";
        let german = sentence(Language::German, text).expect("a translation");
        assert!(german.contains("username: Das ist schon vergeben."), "{german}");
        assert!(german.contains("date of birth: ") && !german.contains("can't be blank"), "{german}");
        assert!(german.ends_with("odd is odd") && !german.contains("Validation failed"), "{german}");
        assert_eq!(sentence(Language::German, "never translated"), None);
    }

    #[test]
    fn body_keeps_what_is_no_text() {
        let body = br#"{"error":"Record not found","request_id":"x","details":{"a":[{"error":"ERR_BLANK","description":"can't be blank"}]}}"#;
        let translated = translated(Language::Japanese, body).expect("a translation");
        let read: Value = serde_json::from_slice(&translated).expect("JSON");
        assert_eq!((&read["request_id"], &read["details"]["a"][0]["error"]), (&"x".into(), &"ERR_BLANK".into()));
        assert_ne!(read["error"], "Record not found");
        assert_ne!(read["details"]["a"][0]["description"], "can't be blank");
    }
}
