//! Reactions to statuses on web pages: the members that extensions add to statuses, as their manifests name them.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use context::Cx;
use context::error::{Error, Result};
use context::extension::{ClientKind, ClientPart};

/// The reactions of one extension to a status.
#[derive(Clone, Debug, Serialize)]
pub struct WebReactions {
    pub extension: String,
    pub part: String,
    pub title: String,
    pub entries: Vec<WebReaction>,
}

/// A reaction.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct WebReaction {
    /// A Unicode emoji, or the shortcode of a custom one.
    pub name: String,
    #[serde(default)]
    pub count: i64,
    /// The viewer reacted so.
    #[serde(default)]
    pub me: bool,
    /// Of a custom emoji; for one of another server, of its copy here.
    #[serde(default)]
    pub url: Option<String>,
    /// The server of a custom emoji that is not one of this server.
    #[serde(default)]
    pub domain: Option<String>,
}

/// The members of a JSON object.
type Members<'a> = HashMap<&'a str, &'a RawValue>;

/// The extensions that add reactions.
pub(super) fn parts(cx: &Cx) -> Vec<ClientPart> {
    let mut parts = cx.extensions().client_parts(cx.language());
    parts.retain(|part| part.kind == ClientKind::Reactions);
    parts
}

/// The reactions of each status in a JSON array; for a reblog the reactions to the original.
///
/// # Errors
/// [`Error::Internal`], which is a bug.
pub(super) fn of(parts: &[ClientPart], json: &str) -> Result<Vec<Vec<WebReactions>>> {
    let statuses: Vec<Members<'_>> = serde_json::from_str(json).map_err(Error::internal)?;
    let mut found = Vec::with_capacity(statuses.len());
    for status in statuses {
        let reblog = status.get("reblog").filter(|value| value.get() != "null");
        let original: Option<Members<'_>> = reblog.and_then(|value| serde_json::from_str(value.get()).ok());
        let members = original.as_ref().unwrap_or(&status);
        let shown = parts.iter().map(|part| {
            let member = members.get(part.member.as_deref().unwrap_or_default());
            WebReactions {
                extension: part.extension.clone(),
                part: part.id.clone(),
                title: part.title.clone(),
                // A plugin's value of another form shows nothing.
                entries: member.and_then(|value| serde_json::from_str(value.get()).ok()).unwrap_or_default(),
            }
        });
        found.push(shown.collect());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_originals_are_read() {
        let part = ClientPart {
            extension: "emoji".to_owned(),
            id: "reactions".to_owned(),
            kind: ClientKind::Reactions,
            title: "React".to_owned(),
            member: Some("marks".to_owned()),
            field: None,
            visibility: None,
        };
        let json = r#"[{"id":"1","marks":[{"name":"x","count":2,"me":true}],"reblog":null},
            {"id":"2","marks":[],"reblog":{"id":"1","marks":[{"name":"y","count":1}]}}, {"id":"3","marks":7}]"#;
        let found = of(&[part], json).expect("statuses");
        let names = |at: usize| found[at][0].entries.iter().map(|one| one.name.as_str()).collect::<Vec<_>>();
        assert_eq!((names(0), names(1), names(2)), (vec!["x"], vec!["y"], vec![]));
        assert!(found[0][0].entries[0].me);
    }
}
