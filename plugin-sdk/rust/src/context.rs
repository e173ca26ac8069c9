//! The context of a call: the caller and the request.

use crate::contract::routes::Request;
use crate::contract::types::{CallContext, Caller, Page};
use crate::{Error, Id, Result};

/// The context of a call, for routes, status filters and commands.
#[derive(Clone, Debug)]
pub struct Context {
    call: CallContext,
    request: Option<Request>,
}

impl Context {
    #[doc(hidden)]
    #[must_use]
    pub fn new(call: CallContext) -> Self {
        Self { call, request: None }
    }

    #[doc(hidden)]
    #[must_use]
    pub fn of(request: Request) -> Self {
        Self { call: request.ctx.clone(), request: Some(request) }
    }

    /// The account of the caller, on routes with `auth = "user"`.
    ///
    /// # Panics
    /// When the request has no user, which other routes allow: use [`Context::viewer`] there.
    #[must_use]
    #[expect(clippy::expect_used, reason = "the host requires a user")]
    pub fn account(&self) -> Id {
        self.viewer().expect("a route with auth = \"user\" is called by accounts only")
    }

    /// The account of the caller, if one is signed in.
    #[must_use]
    pub fn viewer(&self) -> Option<Id> {
        self.call.caller.account.map(Id)
    }

    /// The caller's token: an id that says nothing else, by which the event `token.revoked` and the topic `token:ID` name it.
    #[must_use]
    pub fn token(&self) -> Option<Id> {
        self.call.caller.token.map(Id)
    }

    /// Everything about the caller.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.call.caller
    }

    /// Whether the caller is a moderator or an admin.
    #[must_use]
    pub fn is_moderator(&self) -> bool {
        self.call.caller.role >= 2
    }

    /// The id of the request, which the server's logs carry as well.
    #[must_use]
    pub fn request_id(&self) -> &str {
        &self.call.request_id
    }

    /// The remaining wall-clock budget when the call began, in milliseconds.
    #[must_use]
    pub fn budget_ms(&self) -> u32 {
        self.call.budget_ms
    }

    /// The request, on routes.
    #[must_use]
    pub fn request(&self) -> Option<&Request> {
        self.request.as_ref()
    }

    /// A request header that the manifest lists.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let headers = &self.request.as_ref()?.headers;
        headers.iter().find(|(sent, _)| sent.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The requested page, on routes with `page` in the manifest.
    ///
    /// # Errors
    /// [`Error::Internal`] on other routes.
    pub fn page(&self) -> Result<Page> {
        self.request
            .as_ref()
            .and_then(|request| request.page)
            .ok_or_else(|| Error::internal("the manifest gives this route no page"))
    }
}
