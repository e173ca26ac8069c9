//! Why a signature is refused before its key is known.

/// Longest name of a peer that is repeated in an error, in bytes.
const NAME_MAX: usize = 64;

/// Why a request is not believed; the text is shown to the peer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no signature.
    #[error("the request is not signed")]
    Unsigned,
    /// A header or parameter is missing.
    #[error("{0} is missing")]
    Missing(String),
    /// A header or parameter cannot be parsed.
    #[error("{0} cannot be parsed")]
    Malformed(String),
    /// A parameter, component or digest occurs more than once.
    #[error("{0} occurs more than once")]
    Duplicate(String),
    /// A header is longer than [`super::incoming::FIELD_MAX`].
    #[error("{0} is too long")]
    TooLong(String),
    /// More than [`super::incoming::COMPONENTS_MAX`] components are signed.
    #[error("too many components are signed")]
    TooManyComponents,
    /// The algorithm is unknown, or not allowed for a component that is signed.
    #[error("the algorithm of the signature is not supported")]
    UnsupportedAlgorithm,
    /// The component is unknown, or has parameters that are not supported.
    #[error("the signed component {0} is not supported")]
    UnsupportedComponent(String),
    /// A component that must be signed is not.
    #[error("the signature must cover {0}")]
    NotSigned(&'static str),
    /// The digest differs from the digest of the body.
    #[error("the digest does not match the body")]
    Digest,
    /// The signature is too old.
    #[error("the signature has expired")]
    Expired,
    /// The signature was created in the future, beyond the tolerated difference of clocks.
    #[error("the signature was created in the future")]
    FromTheFuture,
}

impl Refusal {
    /// The reason as the label of a metric.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Unsigned => "unsigned",
            Self::Missing(_) => "missing",
            Self::Malformed(_) => "malformed",
            Self::Duplicate(_) => "duplicate",
            Self::TooLong(_) => "too_long",
            Self::TooManyComponents => "too_many_components",
            Self::UnsupportedAlgorithm => "unsupported_algorithm",
            Self::UnsupportedComponent(_) => "unsupported_component",
            Self::NotSigned(_) => "not_signed",
            Self::Digest => "digest",
            Self::Expired => "expired",
            Self::FromTheFuture => "from_the_future",
        }
    }

    pub(super) fn missing_parameter(name: &str) -> Self {
        Self::Missing(parameter(name))
    }

    pub(super) fn malformed_parameter(name: &str) -> Self {
        Self::Malformed(parameter(name))
    }

    pub(super) fn missing_header(name: &str) -> Self {
        Self::Missing(header(name))
    }

    pub(super) fn malformed_header(name: &str) -> Self {
        Self::Malformed(header(name))
    }

    pub(super) fn long_header(name: &str) -> Self {
        Self::TooLong(header(name))
    }

    pub(super) fn duplicate(name: &str) -> Self {
        Self::Duplicate(quoted(name))
    }

    pub(super) fn unsupported_component(name: &str) -> Self {
        Self::UnsupportedComponent(quoted(name))
    }
}

fn parameter(name: &str) -> String {
    format!("the parameter {}", quoted(name))
}

fn header(name: &str) -> String {
    format!("the header {}", quoted(name))
}

/// `name` between backticks, cut to a length that is harmless in a log.
fn quoted(name: &str) -> String {
    let end = (0..=NAME_MAX.min(name.len())).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
    format!("`{}`", &name[..end])
}
