//! Documents about the server that extensions add to.

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::Cx;

/// Asks extensions for additions to documents about the server. The default of every method is the behaviour of a server without extensions.
#[async_trait]
pub trait DescribeServer {
    /// `json`, which is `document`, with what extensions add to it.
    async fn describe(&self, _cx: &Cx, _document: Document, json: String) -> Described {
        Described { text: json, complete: true }
    }

    /// The operations that extensions serve: the `paths` of an OpenAPI document.
    fn openapi_paths(&self) -> Map<String, Value> {
        Map::new()
    }

    /// The JSON Schemas of what these operations take and answer, by name: among the `components` of an OpenAPI document.
    fn openapi_entities(&self) -> Map<String, Value> {
        Map::new()
    }
}

/// A document with what extensions added to it.
#[derive(Clone, Debug)]
pub struct Described {
    pub text: String,
    /// False when an extension gave no answer: its members are missing for now, so the document must not be kept.
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
