//! <https://docs.joinmastodon.org/entities/Admin_Dimension/>

use serde::Serialize;

use super::metrics::{cached, human_size};
use context::Cx;
use context::error::Result;
use context::json::Fragment;
use database::db::Engine;
use model::metrics::DimensionKey;
use service::metrics::dimension::{self, Dimension, Part};
use service::metrics::period::Period;
use text::language::LANGUAGES;

/// A number split by a property.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Entity {
    key: DimensionKey,
    data: Vec<Row>,
}

/// A value of the property; `value` is a number or a version, as a string.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Row {
    key: String,
    human_key: String,
    value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    human_value: Option<String>,
}

/// Renders dimensions of `period` with at most `limit` rows each, in the order given, each at most five minutes old.
///
/// # Errors
/// As [`dimension::dimension`].
pub async fn render(
    cx: &Cx,
    dimensions: &[(DimensionKey, Dimension)],
    period: Period,
    limit: i64,
) -> Result<Vec<Fragment>> {
    let mut rendered = Vec::with_capacity(dimensions.len());
    for (key, wanted) in dimensions {
        let name = format!("dimension {wanted:?} {period:?} {limit}");
        let make = async {
            let parts = dimension::dimension(cx, wanted, period, limit).await?;
            Fragment::of(&Entity { key: *key, data: parts.into_iter().map(Row::from).collect() })
        };
        rendered.push(cached(cx, name, make).await?);
    }
    Ok(rendered)
}

impl Row {
    fn counted(key: String, human_key: String, number: i64) -> Self {
        Self { key, human_key, value: number.to_string(), ..Self::default() }
    }

    fn sized(key: String, human_key: &str, bytes: i64) -> Self {
        Self {
            unit: Some("bytes"),
            human_value: Some(human_size(bytes)),
            ..Self::counted(key, human_key.to_owned(), bytes)
        }
    }

    fn version(key: &str, human_key: &str, version: &str) -> Self {
        Self {
            key: key.to_owned(),
            human_key: human_key.to_owned(),
            value: version.to_owned(),
            unit: None,
            human_value: Some(version.to_owned()),
        }
    }
}

impl From<Part> for Row {
    fn from(part: Part) -> Self {
        match part {
            // ISO 639-2: undetermined.
            Part::Language(code, number) if code.is_empty() => {
                Self::counted("und".to_owned(), "Unknown".to_owned(), number)
            }
            Part::Language(code, number) => {
                let name = LANGUAGES.iter().find(|language| language.code == code).map(|language| language.name);
                let name = name.unwrap_or(&code).to_owned();
                Self::counted(code, name, number)
            }
            Part::Source(Some(_), Some(name), users) => Self::counted(name.clone(), name, users),
            // An application that was deleted has lost its name.
            Part::Source(Some(id), None, users) => Self::counted(id.to_string(), id.to_string(), users),
            Part::Source(None, _, users) => Self::counted("web".to_owned(), "Website".to_owned(), users),
            Part::Server(domain, number) => Self::counted(domain.clone(), domain, number),
            Part::Account(username, followers) => Self::counted(username.clone(), username, followers),
            Part::Database(engine, bytes) => {
                let (key, name) = names(engine);
                Self::sized(key.to_owned(), name, bytes)
            }
            Part::Media(kind, bytes) => Self::sized(format!("media_{kind}"), media_name(&kind), bytes),
            Part::CardImages(bytes) => Self::sized("preview_cards".to_owned(), "Pictures of preview cards", bytes),
            Part::ServerVersion => Self::version("rookery", "Rookery", env!("CARGO_PKG_VERSION")),
            Part::DatabaseVersion(engine, version) => {
                let (key, name) = names(engine);
                Self::version(key, name, &version)
            }
        }
    }
}

fn names(engine: Engine) -> (&'static str, &'static str) {
    match engine {
        Engine::Sqlite => ("sqlite", "SQLite"),
        Engine::Postgres => ("postgresql", "PostgreSQL"),
    }
}

fn media_name(kind: &str) -> &str {
    match kind {
        "image" => "Images",
        "gifv" => "Animations",
        "video" => "Videos",
        "audio" => "Audio",
        _ => "Other media",
    }
}
