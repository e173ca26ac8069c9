//! The state of a request that all stages share, apart from the request itself.

use std::net::IpAddr;

use axum::http::{HeaderMap, HeaderValue, Method, header};

use super::policy::Policy;
use super::table::Route;
use crate::Cx;

/// Parameters that carry an access token, in the query and in a JSON body.
pub(crate) const TOKEN_NAMES: [&str; 2] = ["access_token", "bearer_token"];

/// The state of one request. The request itself is consumed by its handler.
#[derive(Debug)]
pub(crate) struct RequestState<'a> {
    pub cx: Cx,
    /// `None` for a path that is no route of the table: a plugin's or an unknown one.
    pub route: Option<&'a Route>,
    pub policy: &'a Policy,
    pub method: Method,
    /// The server is closed to strangers at this route.
    pub closed: bool,
    /// There is a page and a document at the path: the response depends on what the request accepts.
    pub negotiated: bool,
    /// Headers of the request that the response may vary by.
    pub carries: Carries,
    /// The query marks the request as paging through a collection.
    pub pages: bool,
    /// Errors are shown as pages.
    pub wants_page: bool,
    /// `Accept-Encoding`.
    pub encodings: Option<HeaderValue>,
    /// The address of the client.
    pub client: IpAddr,
}

/// The headers of a request that its answer may vary by: true for those it carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carries {
    /// The header, or a token in the query.
    pub authorization: bool,
    cookie: bool,
    accept_language: bool,
    accept: bool,
    /// The query carries a token, by whichever spelling: names are decoded, as where the token is read.
    pub token_in_query: bool,
}

impl Carries {
    pub(crate) fn of(headers: &HeaderMap, query: &str) -> Self {
        let mut names = url::form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name);
        let token_in_query = names.any(|name| is_token_name(&name));
        Self {
            authorization: token_in_query || headers.contains_key(header::AUTHORIZATION),
            cookie: headers.contains_key(header::COOKIE),
            accept_language: headers.contains_key(header::ACCEPT_LANGUAGE),
            accept: headers.contains_key(header::ACCEPT),
            token_in_query,
        }
    }

    /// True when the request carries one of the headers that `vary` names.
    pub(crate) fn any_of(self, vary: &str) -> bool {
        let known = [
            ("authorization", self.authorization),
            ("cookie", self.cookie),
            ("accept-language", self.accept_language),
            ("accept", self.accept),
        ];
        let carries = |name: &str| known.iter().any(|(known, sent)| *sent && known.eq_ignore_ascii_case(name));
        vary.split(',').any(|name| carries(name.trim()))
    }
}

/// True for the decoded name of a parameter that carries an access token.
pub(crate) fn is_token_name(name: &str) -> bool {
    TOKEN_NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_token_names_are_seen() {
        let has_token = |query| Carries::of(&HeaderMap::new(), query).token_in_query;
        assert!(has_token("a=1&access_token=x") && has_token("access%5Ftoken=x"));
        assert!(!has_token("my_token=x") && !has_token(""));
    }

    #[test]
    fn vary_header_follows_the_headers_of_the_request() {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static("text/html"));
        let carries = Carries::of(&headers, "bearer_token=x");
        assert!(carries.any_of("Accept") && carries.any_of("cookie, Authorization"));
        assert!(
            !carries.any_of("Cookie") && !carries.any_of("Accept-Language, Accept-Encoding") && !carries.any_of("")
        );
    }
}
