//! Host functions that reach beyond the server: HTTP requests.

use wasmtime::Result;

use super::cost;
use crate::bindings::imports::http_client;
use crate::byte_size::ByteSize;
use crate::state::State;

impl http_client::Host for State {
    async fn fetch(
        &mut self,
        requests: Vec<http_client::Request>,
    ) -> Result<Vec<Result<http_client::Response, http_client::HttpError>>> {
        let (units, bytes) = (cost(0, 20, requests.len()).max(1), requests.heap_bytes());
        self.wait("http-client.fetch", units, bytes, |host| host.fetch(requests)).await
    }
}
