//! HTTP to the outside for plugins (contract: interface `http-client`).

/// How much one plugin may ask for now.
#[derive(Debug, Default)]
pub(super) struct Allowance;
