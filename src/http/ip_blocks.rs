//! Access control by address: clients in a blocked network of severity `no_access` are refused.
//!
//! The first stage that knows the policy of the route; probes of the server's health are answered. A preflight request
//! is answered before it, so that scripts can read the refusal. Milder blocks concern sign-up alone, in
//! `service::registration`. Spec: docs/contract/rules.md#7-access-modes.

use axum::response::{IntoResponse as _, Response};

use super::state::RequestState;
use crate::error::{Error, ErrorResponse};
use model::ip_block::IpSeverity;

/// The response to a client without access; `None` for everyone else.
pub(crate) fn refuse(state: &RequestState<'_>) -> Option<Response> {
    match state.cx.client_block() {
        Some(IpSeverity::NoAccess) if !state.policy.probe => {
            Some(ErrorResponse(Error::forbidden("Your network is blocked by this server")).into_response())
        }
        Some(IpSeverity::NoAccess | IpSeverity::SignUpBlock | IpSeverity::SignUpRequiresApproval) | None => None,
    }
}
