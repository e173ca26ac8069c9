//! <https://docs.joinmastodon.org/entities/AsyncRefresh/>

use serde::Serialize;

use service::feed::refresh::Refresh;

/// A refresh in the background, in an object of its own.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AsyncRefresh {
    async_refresh: State,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct State {
    id: String,
    /// `running` or `finished`.
    status: &'static str,
    result_count: Option<i64>,
}

impl From<Refresh> for AsyncRefresh {
    fn from(refresh: Refresh) -> Self {
        let status = if refresh.is_running { "running" } else { "finished" };
        Self { async_refresh: State { id: refresh.id, status, result_count: Some(refresh.results) } }
    }
}
