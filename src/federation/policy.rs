//! Which servers this one talks to: the one function asked on every way in and out.
//!
//! Reached before a document is fetched, a signature or activity accepted, and a delivery sent. It decides about the
//! server as a whole; `service::domain_decision` changes the policy, and the flags of a block are applied where an
//! activity is processed.
//!
//! Spec: docs/contract/federation.md#10-limited-federation-and-domain-policy

use context::Cx;
use model::domain_policy;
use model::instance::Severity;

/// Why this server does not talk to a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("a domain of this server")]
    Own,
    #[error("a suspended domain")]
    Suspended,
    #[error("not a domain that limited federation admits")]
    NotAllowed,
}

impl Refused {
    /// The label of metrics.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Own => "own_domain",
            Self::Suspended => "suspended",
            Self::NotAllowed => "not_allowed",
        }
    }
}

/// Decides whether this server fetches from, accepts from and delivers to `host`, a domain in ASCII with or without a
/// port.
///
/// # Errors
/// [`Refused`] with the reason.
pub fn may_talk(cx: &Cx, host: &str) -> Result<(), Refused> {
    let decided = decide(cx, host);
    cx.step("policy", decided.is_ok(), || match decided {
        Ok(()) => format!("this server talks to {host}"),
        Err(refused) => format!("{host} is {refused}"),
    });
    decided
}

fn decide(cx: &Cx, host: &str) -> Result<(), Refused> {
    let name = domain_policy::without_port(host).trim_end_matches('.');
    if [host, name].iter().any(|own| cx.config.is_local_domain(own)) {
        return Err(Refused::Own);
    }
    let policy = cx.domain_policy();
    if policy.severity(host) == Severity::Suspend {
        return Err(Refused::Suspended);
    }
    if cx.config.access.limited_federation && !policy.allows(host) {
        return Err(Refused::NotAllowed);
    }
    Ok(())
}
