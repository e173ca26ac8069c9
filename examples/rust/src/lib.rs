//! Private notes: the example plugin.

use rookery_plugin::bindings::host::types::Failure;
use rookery_plugin::bindings::routes::exports::rookery::plugin::routes::{Guest, Output, Request, Response};

struct Notes;

impl Guest for Notes {
    fn handle(request: Request) -> Result<Response, Failure> {
        rookery_plugin::bindings::host::log::emit(rookery_plugin::bindings::host::log::Level::Info, &request.path, &[]);
        Ok(Response { status: 200, headers: Vec::new(), output: Output::Json("[]".into()), cursor: None })
    }
}

rookery_plugin::bindings::routes::export!(Notes with_types_in rookery_plugin::bindings::routes);
