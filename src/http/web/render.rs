//! Renders a page from its template, with its security headers.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::templates::TEMPLATES;
use super::{assets, avatar_url, custom_css, display_name_html};
use crate::error::{Error, Result};
use crate::operation::Respond;
use crate::{Cx, cache, files};
use context::BrowserUser;
use entity::server_pictures;
use service::templates::Templates;

/// What the policy of a page begins with: styles of this server, and images and media of this server and its storage.
fn policy_of_files(cx: &Cx) -> String {
    let hosts = &cx.urls.file_hosts;
    format!(
        "default-src 'none'; style-src 'self'; img-src 'self'{hosts}; media-src 'self'{hosts}; manifest-src 'self'; \
         base-uri 'none'; "
    )
}

/// The part of a page's policy for people who are signed in: the script of this server, and its requests.
const SCRIPTS: &str = "script-src 'self'; connect-src 'self'; worker-src 'self'; ";
/// The end of the policy of a page that others may not frame.
const UNFRAMED: &str = "frame-ancestors 'none'";
/// After it, for pages whose forms submit to this server only.
const OWN_FORMS: &str = "; form-action 'self'";
/// The end of the policy of a page for the frames of any site, without forms.
const FRAMED: &str = "form-action 'none'; frame-ancestors *";

/// A rendered page.
#[derive(Debug)]
pub struct Page {
    html: String,
    status: StatusCode,
    headers: HeaderMap,
}

impl Respond for Page {}

/// A hidden field of a form.
#[derive(Clone, Debug, Serialize)]
pub struct Hidden {
    pub name: &'static str,
    pub value: String,
}

impl Page {
    /// Renders the template `name` in the language of the request; the comment at its head lists the context it needs. `page_title`, `noindex` and
    /// `flash` are optional in every context; what all pages share is added.
    ///
    /// # Errors
    /// When rendering fails, which is a bug.
    pub fn render(cx: &Cx, name: &str, context: impl Serialize) -> Result<Self> {
        Self::render_of(cx, &TEMPLATES, name, context)
    }

    /// Like [`Page::render`], with other templates, such as templates of plugins.
    ///
    /// # Errors
    /// As [`Page::render`].
    pub fn render_of(cx: &Cx, templates: &Templates, name: &str, context: impl Serialize) -> Result<Self> {
        let icons = server_pictures::chosen_icons(cx);
        let own = minijinja::Value::from_serialize(context);
        let signed_in = matches!(cx.browser_user(), BrowserUser::SignedIn(_));
        let context = minijinja::context! {
            css_url => assets::css_url(),
            custom_css_url => custom_css::url(cx),
            icon_url => icons.as_ref().map(|(small, _)| small),
            large_icon_url => icons.as_ref().map(|(_, large)| large),
            logo_url => server_pictures::logo(cx),
            has_terms => service::terms::exist(cx),
            has_extensions => cx.extensions().has_pages(),
            client_parts => signed_in.then(|| cx.extensions().client_parts(cx.language())),
            translates => signed_in && service::translation::is_enabled(cx),
            script_url => signed_in.then(assets::script_url),
            user => user(cx),
            signed_out => matches!(cx.browser_user(), BrowserUser::Anonymous),
            ..own
        };
        let html = templates.render(cx, cx.language(), name, context)?;
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        let policy = policy_of_files(cx) + if signed_in { SCRIPTS } else { "" } + UNFRAMED + OWN_FORMS;
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_str(&policy).map_err(Error::internal)?);
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
        headers.insert(header::VARY, HeaderValue::from_static("Accept-Language, Cookie"));
        Ok(Self { html, status: StatusCode::OK, headers })
    }

    /// Replaces the status 200.
    #[must_use]
    pub fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// For a form whose response redirects to another site: browsers apply `form-action` to redirects too.
    #[must_use]
    pub fn allowing_external_redirect(mut self) -> Self {
        if let Some(policy) = self.headers.get_mut(header::CONTENT_SECURITY_POLICY)
            && let Some(start) = policy.to_str().ok().and_then(|policy| policy.strip_suffix(OWN_FORMS))
            && let Ok(wider) = HeaderValue::from_str(start)
        {
            *policy = wider;
        }
        self
    }

    /// For the frames of any site, without forms.
    ///
    /// # Errors
    /// When the addresses of the storage make no header, which is a bug.
    pub fn in_frames(mut self, cx: &Cx) -> Result<Self> {
        let policy = policy_of_files(cx) + FRAMED;
        self.headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_str(&policy).map_err(Error::internal)?);
        // An empty value is not sent: the policy says who may frame it.
        Ok(self.with_header(header::X_FRAME_OPTIONS, ""))
    }

    /// For a page that shows a secret: no cache may store it.
    #[must_use]
    pub fn no_store(self) -> Self {
        self.with_header(header::CACHE_CONTROL, "no-store")
    }

    /// For a page with a secret in its URL: browsers send no `Referer`.
    #[must_use]
    pub fn without_referrer(self) -> Self {
        self.with_header(header::REFERRER_POLICY, "no-referrer")
    }

    /// A cacheable response for a page that is the same for everyone; 304 when the browser that sent the headers
    /// `asked` already has it.
    #[must_use]
    pub fn shared(mut self, asked: &HeaderMap) -> Response {
        let tag = format!("\"{}\"", &crypto::sha256_hex(self.html.as_bytes())[..32]);
        let unchanged = asked.get_all(header::IF_NONE_MATCH).iter().any(|sent| files::matches_tag(sent, &tag));
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            self.headers.insert(header::ETAG, tag);
        }
        self.headers.insert(header::CACHE_CONTROL, cache::WHILE_ANONYMOUS);
        if unchanged { (StatusCode::NOT_MODIFIED, self.headers).into_response() } else { self.into_response() }
    }

    /// Sets a header, replacing an earlier value.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: &'static str) -> Self {
        self.headers.insert(name, HeaderValue::from_static(value));
        self
    }
}

/// The user of the browser, for the header.
fn user(cx: &Cx) -> Option<minijinja::Value> {
    let BrowserUser::SignedIn(account) = cx.browser_user() else { return None };
    Some(minijinja::context! {
        name_html => display_name_html(&account),
        acct => account.acct(),
        avatar => avatar_url(cx, &account),
    })
}

impl IntoResponse for Page {
    fn into_response(self) -> Response {
        (self.status, self.headers, self.html).into_response()
    }
}
