//! The destination of a request.

use url::{Host, Url};

use super::error::Error;

/// The destination of a request: a parsed and validated URL, whose parts can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub(super) url: Url,
    pub(super) host: Host,
    pub(super) port: u16,
}

impl Target {
    /// Parses a URL.
    ///
    /// # Errors
    /// [`Error::Url`] for anything but `http` and `https`, and for a URL with a user name or a host ending in a dot.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let refuse = |why: &str| Err(Error::Url(why.to_owned()));
        let Ok(url) = Url::parse(text) else { return refuse("it cannot be read") };
        if !matches!(url.scheme(), "http" | "https") {
            return refuse("the scheme must be http or https");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return refuse("it must not hold a user name");
        }
        let (Some(host), Some(port)) = (url.host().map(|host| host.to_owned()), url.port_or_known_default()) else {
            return refuse("it has no host");
        };
        if matches!(&host, Host::Domain(name) if name.ends_with('.')) {
            return refuse("the host must not end with a dot");
        }
        Ok(Self { url, host, port })
    }

    /// `http` or `https`.
    #[must_use]
    pub fn scheme(&self) -> &str {
        self.url.scheme()
    }

    /// The host in lower case and ASCII, an IPv6 address in brackets.
    #[must_use]
    pub fn host(&self) -> String {
        self.host.to_string()
    }

    /// The port: explicit, or the default of the scheme.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The whole URL, without its fragment.
    #[must_use]
    pub fn url(&self) -> &str {
        self.url.as_str().split('#').next().unwrap_or_default()
    }

    /// Resolves `reference`, an absolute or relative URL in a document at this URL.
    ///
    /// # Errors
    /// As [`Target::parse`].
    pub fn join(&self, reference: &str) -> Result<Self, Error> {
        let url = self.url.join(reference).map_err(|_| Error::Url("it cannot be read".to_owned()))?;
        Self::parse(url.as_str())
    }

    /// The value of the `Host` header: the host, and the port unless it is the default of the scheme.
    #[must_use]
    pub fn authority(&self) -> String {
        match self.url.port() {
            None => self.host(),
            Some(port) => format!("{}:{port}", self.host()),
        }
    }

    /// The request target: path and query.
    #[must_use]
    pub fn path_and_query(&self) -> &str {
        &self.url()[self.url[..url::Position::BeforePath].len()..]
    }

    /// True for `https`.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.scheme() == "https"
    }
}
