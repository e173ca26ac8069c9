//! Path segments: the values in a request's path of the route's `{parameters}`.
//!
//! The route look-up puts [`Segments`] into the request's extensions.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use schemars::JsonSchema;
use serde::de::value::{Error as Fault, SeqDeserializer, StrDeserializer};
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use crate::error::{Error, ErrorResponse};
use crate::operation::{Describe, Operation};

/// Path segments. One that does not parse, such as an invalid id, is answered as a missing record: 404.
#[derive(Debug)]
pub struct Path<T>(pub T);

/// The percent-decoded segments of a path, in the order of its route's parameters; `None` when one is not UTF-8.
#[derive(Clone, Debug)]
pub(crate) struct Segments(Option<Vec<String>>);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ErrorResponse> {
        let segments = parts.extensions.get().and_then(|Segments(segments)| segments.as_deref());
        let value = segments.and_then(|segments| T::deserialize(SegmentsDeserializer(segments)).ok());
        Ok(Self(value.ok_or(Error::NotFound)?))
    }
}

impl<T: JsonSchema> Describe for Path<T> {
    fn describe(operation: &mut Operation) {
        operation.path_is::<T>();
    }
}

impl Segments {
    /// Decodes what `params` matched; `None` for a route without parameters.
    pub(crate) fn of(params: &matchit::Params<'_, '_>) -> Option<Self> {
        if params.is_empty() {
            return None;
        }
        let decode = |text| Some(percent_encoding::percent_decode_str(text).decode_utf8().ok()?.into_owned());
        Some(Self(params.iter().map(|(_, text)| decode(text)).collect()))
    }
}

/// One segment as a text, several as a tuple.
struct SegmentsDeserializer<'a>(&'a [String]);

impl<'de> Deserializer<'de> for SegmentsDeserializer<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0 {
            [only] => visitor.visit_str(only),
            several => {
                let texts = several.iter().map(|text| Text(text));
                SeqDeserializer::new(texts).deserialize_any(visitor)
            }
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct
        seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// One of several segments.
struct Text<'a>(&'a str);

impl<'a> IntoDeserializer<'a> for Text<'a> {
    type Deserializer = StrDeserializer<'a, Fault>;
    fn into_deserializer(self) -> Self::Deserializer {
        self.0.into_deserializer()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::StatusId;

    fn parse<T: DeserializeOwned>(segments: &[&str]) -> Option<T> {
        let segments: Vec<String> = segments.iter().map(|text| (*text).to_owned()).collect();
        T::deserialize(SegmentsDeserializer(&segments)).ok()
    }

    #[test]
    fn segments_parse_as_the_types_of_the_handler() {
        assert_eq!(parse::<String>(&["a b"]).as_deref(), Some("a b"));
        assert_eq!(parse::<StatusId>(&["12"]), Some(StatusId::from(12)));
        assert_eq!(parse::<(String, StatusId)>(&["alice", "12"]), Some(("alice".to_owned(), StatusId::from(12))));
        assert_eq!(parse::<StatusId>(&["twelve"]), None);
        assert_eq!(parse::<(String, StatusId)>(&["alice", "twelve"]), None);
        assert_eq!(parse::<String>(&["a", "b"]), None);
    }

    #[test]
    fn segments_are_decoded() {
        let mut router = matchit::Router::new();
        router.insert("/{name}/{*rest}", ()).expect("a route");
        let decode = |path| Segments::of(&router.at(path).expect("it matches").params).expect("parameters").0;
        assert_eq!(decode("/caf%C3%A9/a/b%2Fc"), Some(vec!["café".to_owned(), "a/b/c".to_owned()]));
        assert_eq!(decode("/%FF/a"), None);
    }
}
