//! Documents about the server that extensions add to.

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::Cx;

/// Additions of extensions to documents about the server. The default of every method is the behaviour of a server
/// without extensions.
#[async_trait]
pub trait DescribeServer {
    /// The document `json` with the additions of extensions.
    async fn describe(&self, _cx: &Cx, _document: Document, json: String) -> Described {
        Described { text: json, complete: true }
    }

    /// True when an extension serves the route `path`, written as in its manifest: `/api/v1/lists/{id}`.
    fn serves(&self, _path: &str) -> bool {
        false
    }

    /// The operations that extensions serve: the `paths` of an OpenAPI document.
    fn openapi_paths(&self) -> Map<String, Value> {
        Map::new()
    }

    /// The JSON Schemas of the request and response bodies of these operations, by name: among the `components` of an
    /// OpenAPI document.
    fn openapi_entities(&self) -> Map<String, Value> {
        Map::new()
    }
}

/// A document with the additions of extensions.
#[derive(Clone, Debug)]
pub struct Described {
    pub text: String,
    /// False when an extension did not respond: its members are missing, so the document must not be cached.
    pub complete: bool,
}

/// A document about the server that extensions add to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Document {
    /// `GET /api/v1/instance`
    InstanceV1,
    /// `GET /api/v2/instance`
    InstanceV2,
    /// NodeInfo
    NodeInfo,
}
