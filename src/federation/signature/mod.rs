//! HTTP signatures: who sent a request, proven with the published key of an actor.
//!
//! Outgoing requests are signed by [`Signer`] as draft-cavage describes it. Of an incoming request, [`Claim::parse`]
//! checks everything that needs no key: the form, the components that must be signed, the digest of the body and the
//! time. The caller then finds the key of [`Claim::key_id`], and [`Claim::verify`] decides. Both draft-cavage and
//! RFC 9421 are accepted. Pure functions without a clock; finding keys and their owners is not done here. Signing and
//! verifying take about a millisecond of CPU time, so callers use a blocking thread.
//!
//! Spec: docs/contract/federation.md#5-http-signatures; draft-cavage-http-signatures-12; RFC 9421.

mod cavage;
mod claim;
mod digest;
mod fields;
mod incoming;
mod refusal;
mod rfc9421;
mod sign;
mod synchronization;
#[cfg(test)]
mod tests;
mod times;

use model::Time;

pub use claim::Claim;
pub use incoming::Incoming;
pub use refusal::Refusal;
pub use sign::{Post, SignError, Signer};
pub use synchronization::Synchronization;

impl Claim {
    /// Reads the signature of `request` and checks everything that needs no key.
    ///
    /// A request with a `Signature-Input` header is read as RFC 9421, any other as draft-cavage.
    ///
    /// # Errors
    /// [`Refusal::Unsigned`] without a `Signature` header; any other [`Refusal`] for a signature that is not
    /// acceptable, whatever the key.
    pub fn parse(request: &Incoming<'_>, now: Time) -> Result<Self, Refusal> {
        if !request.headers.contains_key("signature") {
            return Err(Refusal::Unsigned);
        }
        if request.headers.contains_key("signature-input") {
            rfc9421::claim(request, now)
        } else {
            cavage::claim(request, now)
        }
    }
}
