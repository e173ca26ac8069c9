//! From text to [`Manifest`]: what is not known is refused with the nearest thing that is.

use rookery_plugin_host::{Fault, Stage};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Limits, Manifest, rules};
use crate::config::nearest;

/// The contract that this server offers.
pub const API: &str = "0.1";

/// Reads a `plugin.toml` and checks all that can be known from it alone.
///
/// # Errors
/// The first fault, at [`Stage::Validate`]; at [`Stage::Contract`] for a contract that is not offered.
pub fn parse(text: &str) -> Result<Manifest, Fault> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        Fault::new(Stage::Validate, format!("plugin.toml, line {line}: {}", one_line(error.message())))
    })?;
    let value = serde_json::to_value(table)
        .map_err(|error| Fault::new(Stage::Validate, format!("plugin.toml: {}", one_line(&error.to_string()))))?;
    let name = value.pointer("/plugin/name").and_then(Value::as_str).filter(|name| rules::is_name(name));
    let of = name.map_or_else(|| "plugin.toml".to_owned(), |name| format!("plugin.toml of {name}"));
    let manifest: Manifest = read(value).map_err(|problem| Fault::new(Stage::Validate, format!("{of}: {problem}")))?;
    if manifest.plugin.api != API {
        let offered = &manifest.plugin.api;
        return Err(Fault::new(
            Stage::Contract,
            format!(
                "{of}: it is built for contract {offered:?} and this server offers {API:?}: build it with the SDK of {API}, \
                 or update the server"
            ),
        ));
    }
    rules::check(&manifest).map_err(|problem| Fault::new(Stage::Validate, format!("{of}: {problem}")))?;
    Ok(manifest)
}

/// Limits as an admin gives them: a JSON object with the keys of `[limits]`.
///
/// # Errors
/// What is wrong with it, in words.
pub fn parse_limits(value: Value) -> Result<Limits, String> {
    let limits: Limits = read(value)?;
    limits.resolve()?;
    Ok(limits)
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let place = place(error.path());
        problem(&place, &one_line(&error.inner().to_string()))
    })
}

/// `[limits]`, `route 2`, `route 2, page`: where in the file something stands; tables are counted from 1.
fn place(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let mut place = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => place.push_str(&format!(" {}", index + 1)),
            Segment::Map { key } if place.is_empty() => place.push_str(key),
            Segment::Map { key } => place.push_str(&format!(", {key}")),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    place
}

/// serde's complaint in our words: `unknown field` and `unknown variant` name everything that is known.
fn problem(place: &str, complaint: &str) -> String {
    let at = |place: &str| if place.is_empty() { String::new() } else { format!("{place}: ") };
    let mut quoted = complaint.split('`').skip(1).step_by(2).map(str::to_owned);
    let word = quoted.next().unwrap_or_default();
    if complaint.starts_with("unknown field") {
        // The path may name the key itself already.
        let parent = place.strip_suffix(word.as_str()).map_or(place, |rest| rest.trim_end_matches(", "));
        let known: Vec<String> = quoted.collect();
        return format!("{}there is no key {word:?}{}", at(parent), meant(&word, known));
    }
    if complaint.starts_with("unknown variant") {
        let known: Vec<String> = quoted.collect();
        return format!("{}{word:?} is not one of {}", at(place), known.join(", "));
    }
    if complaint.starts_with("missing field") {
        return format!("{}the key {word:?} is missing", at(place));
    }
    format!("{}{complaint}", at(place))
}

fn meant(word: &str, known: Vec<String>) -> String {
    let all = known.join(", ");
    match nearest(word, known.into_iter()) {
        Some(near) => format!("; did you mean {near:?}?"),
        None => format!("; there are {all}"),
    }
}

/// Line breaks and what follows twice as spaces: a fault is one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
