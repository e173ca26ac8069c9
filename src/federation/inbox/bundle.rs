//! The activities in the body of a request: one, or the members of a collection.
//!
//! Spec: docs/contract/federation.md#6-inbox.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::Map;
use serde_json::{Value, to_vec};

use crate::vocabulary::{Activity, Malformed, Many, parse};

/// The types of collections.
const COLLECTIONS: [&str; 4] = ["Collection", "OrderedCollection", "CollectionPage", "OrderedCollectionPage"];
/// Most members of one that are processed.
const MEMBERS_MAX: usize = 20;

/// An activity, and the text of its document.
pub(super) type Item<'a> = (Activity, Cow<'a, [u8]>);

/// A collection whose members are inline.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bundle {
    #[serde(rename = "@context")]
    context: Value,
    #[serde(rename = "type")]
    kind: Many<String>,
    #[serde(default)]
    items: Vec<Value>,
    #[serde(default)]
    ordered_items: Vec<Value>,
}

/// The activities of `body`, those of a collection last to first. Other members of a
/// collection are left out.
///
/// # Errors
/// [`Malformed`].
pub(super) fn activities(body: &[u8]) -> Result<Vec<Item<'_>>, Malformed> {
    let malformed = match parse::<Activity>(body) {
        Ok(activity) if !is_collection(&activity.kind) => return Ok(vec![(activity, Cow::Borrowed(body))]),
        Ok(_) => None,
        Err(malformed) => Some(malformed),
    };
    let Ok(Bundle { context, items, ordered_items, .. }) = parse::<Bundle>(body).and_then(collection) else {
        return malformed.map_or(Ok(Vec::new()), Err);
    };
    let members = items.into_iter().chain(ordered_items).take(MEMBERS_MAX).filter_map(|item| match item {
        Value::Object(members) => member(members, &context),
        _ => None,
    });
    let members: Vec<Item<'static>> = members.collect();
    Ok(members.into_iter().rev().collect())
}

fn collection(bundle: Bundle) -> Result<Bundle, Malformed> {
    if is_collection(&bundle.kind) { Ok(bundle) } else { Err(Malformed::Context) }
}

fn is_collection(kinds: &[String]) -> bool {
    kinds.iter().any(|kind| COLLECTIONS.contains(&kind.as_str()))
}

/// A member as a document of its own, with the context of the collection unless it has one.
fn member(mut members: Map<String, Value>, context: &Value) -> Option<Item<'static>> {
    members.entry("@context").or_insert_with(|| context.clone());
    let body = to_vec(&members).ok()?;
    Some((parse(&body).ok()?, Cow::Owned(body)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ids(body: &Value) -> Result<Vec<String>, Malformed> {
        let body = body.to_string();
        let found = activities(body.as_bytes())?;
        Ok(found.into_iter().map(|(activity, _)| activity.id.0.unwrap_or_default()).collect())
    }

    #[test]
    fn collection_is_read_from_its_end() {
        let context = "https://www.w3.org/ns/activitystreams";
        let one = |id: &str| json!({ "id": id, "type": "Like", "actor": "https://a.test/u" });
        let all = json!([one("1"), "https://a.test/2", 3, one("4"), { "type": "Note" }]);
        let collection = json!({ "@context": context, "type": "OrderedCollection", "orderedItems": all });
        assert_eq!(ids(&collection).unwrap(), ["4", "1"]);
        let with_actor =
            json!({ "@context": context, "type": "Collection", "actor": "https://a.test/u", "items": [one("1")] });
        assert_eq!(ids(&with_actor).unwrap(), ["1"]);
        assert_eq!(ids(&json!({ "@context": context, "type": "OrderedCollection" })).unwrap(), [""; 0]);
        assert!(ids(&json!({ "@context": context, "type": "Note", "orderedItems": all })).is_err());
        assert!(ids(&json!({ "type": "OrderedCollection", "orderedItems": all })).is_err(), "without a context");
        let many = json!({ "@context": context, "type": "Collection", "items": vec![one("1"); 100] });
        assert_eq!(ids(&many).unwrap().len(), MEMBERS_MAX);
    }
}
