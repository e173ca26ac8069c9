//! Route policies: declared in the router beside the path, and read by the stages around the handler.
//!
//! The policy is found with the route; rate limits, CORS, caching, closed servers and error pages depend on it, and
//! none of them on a path. Authentication and scopes are in the handler's argument list
//! ([`extract::auth`](crate::extract::auth)).

use axum::http::Method;
use context::limits::Limit;

/// The audience of a route, which decides the format of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteKind {
    /// The client API: JSON, always.
    Api,
    /// Other endpoints for programs, and files: a page where a browser asks for one.
    Program,
    /// Pages with forms and cookies: errors are always pages.
    Page,
}

/// The key by which a limit counts requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// The signed-in user; requests without one are not counted.
    Person,
    /// The client address.
    Address,
}

/// How large the files are that a route takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// As large as an image.
    Images,
    /// As large as a video, with its picture.
    Videos,
    /// As large as a list of domains.
    Lists,
}

/// The caches that may store a successful response to GET.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    Nobody,
    /// Shared caches for 15 seconds, when the request was anonymous.
    WhileAnonymous,
    /// Shared caches for five minutes: the response does not depend on the user.
    ForEveryone,
}

/// Who is served on a closed server (docs/contract/rules.md#7-access-modes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// Signed-in users.
    ToStrangers,
    /// Everybody, by this method.
    Open(WriteMethod),
    /// Everybody, unless federation is limited.
    UnlessLimited,
    /// Everybody, unless federation is limited: it would then list the allowed servers.
    HiddenWhenLimited,
    /// A page about people: everybody, unless federation is limited; then users with a session.
    PeopleWhenLimited,
    /// Everybody, whatever the server.
    Never,
}

/// The policy of a route.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// Its audience.
    pub kind: RouteKind,
    /// The methods that other origins may use; `None` without CORS.
    pub cors: Option<&'static str>,
    /// An additional limit, for one method or for all methods that change something.
    pub limit: Option<(Option<WriteMethod>, &'static Limit, Per)>,
    /// The largest body, where that is less than for others.
    pub body_limit_bytes: Option<usize>,
    /// The files that it takes.
    pub files: Option<Files>,
    /// Who may keep its answers.
    pub keep: Keep,
    /// Who is served on a closed server.
    pub closed: Closed,
    /// Served to blocked addresses too: a probe of the health of the server.
    pub probe: bool,
    /// The handler itself decides which accounts it serves, and how it refuses the others.
    pub judges_accounts: bool,
    /// Served to accounts that moved too, whatever the method.
    pub open_to_moved: bool,
}

/// A method that changes something, as a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteMethod {
    Post,
    Delete,
}

impl WriteMethod {
    /// True for this `method`.
    #[must_use]
    pub fn is(self, method: &Method) -> bool {
        match self {
            Self::Post => method == Method::POST,
            Self::Delete => method == Method::DELETE,
        }
    }
}

/// The largest body of a route that takes small ones, and of a stranger at the API, in bytes.
pub(crate) const SMALL_BODY_BYTES: usize = 16 * 1024;

/// A route of the client API.
pub const API: Policy = Policy {
    kind: RouteKind::Api,
    cors: Some("POST, PUT, DELETE, GET, PATCH, OPTIONS"),
    limit: None,
    body_limit_bytes: None,
    files: None,
    keep: Keep::Nobody,
    closed: Closed::ToStrangers,
    probe: false,
    judges_accounts: false,
    open_to_moved: false,
};

/// Another endpoint for programs: OAuth, probes, files.
pub const PROGRAM: Policy = Policy { kind: RouteKind::Program, cors: None, closed: Closed::Never, ..API };

/// A document under `/.well-known/` or of NodeInfo.
pub const WELL_KNOWN: Policy = Policy { cors: Some("GET"), ..PROGRAM };

/// A picture, video, sound or other file: pages of other sites may read it.
pub const FILE: Policy = Policy { cors: Some("GET"), ..PROGRAM };

/// A page that anyone may link to.
pub const PAGE: Policy = PROGRAM;

/// A page with forms.
pub const FORM: Policy = Policy { kind: RouteKind::Page, ..PROGRAM };

/// Public, and cached for 15 seconds when the request is anonymous.
pub const SHARED: Policy = API.while_anonymous();

impl Policy {
    /// Other origins may use `methods`.
    #[must_use]
    pub const fn cors(mut self, methods: &'static str) -> Self {
        self.cors = Some(methods);
        self
    }

    /// Requests by `method` count against `limit`; by any method that changes something when there is none.
    #[must_use]
    pub const fn limit(mut self, method: Option<WriteMethod>, limit: &'static Limit, per: Per) -> Self {
        self.limit = Some((method, limit, per));
        self
    }

    /// The handler decides which accounts it serves.
    #[must_use]
    pub const fn judges_accounts(mut self) -> Self {
        self.judges_accounts = true;
        self
    }

    /// Accounts that moved may use it too.
    #[must_use]
    pub const fn open_to_moved(mut self) -> Self {
        self.open_to_moved = true;
        self
    }

    /// Bodies are small: what anyone may send before they are known.
    #[must_use]
    pub const fn small_body(self) -> Self {
        self.body_limit(SMALL_BODY_BYTES)
    }

    /// Bodies have at most `bytes` bytes.
    #[must_use]
    pub const fn body_limit(mut self, bytes: usize) -> Self {
        self.body_limit_bytes = Some(bytes);
        self
    }

    /// It takes files, which count against the limit of uploads.
    #[must_use]
    pub const fn files(mut self, files: Files) -> Self {
        self.files = Some(files);
        self
    }

    /// Shared caches may store the response to an anonymous request for 15 seconds.
    #[must_use]
    pub const fn while_anonymous(mut self) -> Self {
        self.keep = Keep::WhileAnonymous;
        self
    }

    /// Others may keep the answer: it is the same for everyone.
    #[must_use]
    pub const fn for_everyone(mut self) -> Self {
        self.keep = Keep::ForEveryone;
        self
    }

    /// Who is served on a closed server.
    #[must_use]
    pub const fn closed(mut self, closed: Closed) -> Self {
        self.closed = closed;
        self
    }

    /// Blocked addresses are served too.
    #[must_use]
    pub const fn probe(mut self) -> Self {
        self.probe = true;
        self
    }

    /// The policy of a path outside of the router: a route of a plugin, or an unknown path.
    #[must_use]
    pub fn fallback(path: &str) -> &'static Self {
        if path.starts_with("/api/") {
            &API
        } else if path.starts_with("/.well-known/") || path.starts_with("/nodeinfo/") {
            &WELL_KNOWN
        } else if path.starts_with("/auth/") || path.starts_with("/settings") || path.starts_with("/oauth/authorize") {
            &FORM
        } else {
            &PAGE
        }
    }

    /// The limit that a request by `method` counts against beside the general ones.
    #[must_use]
    pub fn limit_of(&self, method: &Method) -> Option<(&'static Limit, Per)> {
        let (only, limit, per) = self.limit?;
        let counts = only.map_or(!method.is_safe(), |only| only.is(method));
        counts.then_some((limit, per))
    }
}
