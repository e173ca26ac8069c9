//! The parameters of an entry by their names, as text: the cells of a CSV and the members of a JSON object.

use super::host::Reason;
use crate::domain_decision::{BlockParams, comment};
use model::domain_policy::Flags;
use model::instance::Severity;

/// The names of all parameters but the domain.
const NAMES: &[&str] = &["severity", "obfuscate", "hidden", "private_comment", "public_comment", "comment"];

/// The name of the parameter that `text` is; `None` for a member that is not known.
pub(super) fn name(text: &str) -> Option<&'static str> {
    NAMES.iter().chain(Flags::NAMES).find(|name| **name == text).copied()
}

/// Sets one parameter of a block; a blank value leaves it as it is.
///
/// # Errors
/// The reason why the value is not taken.
pub(super) fn set(block: &mut BlockParams, name: &str, value: &str) -> Result<(), Reason> {
    let value = value.trim();
    if value.is_empty() {
        return Ok(());
    }
    match name {
        "severity" => block.severity = severity(value)?,
        "obfuscate" => block.obfuscate = flag(name, value)?,
        "hidden" => block.hidden = flag(name, value)?,
        "private_comment" => block.private_comment = text(value)?,
        "public_comment" | "comment" => block.public_comment = text(value)?,
        other => {
            if let Some(set) = block.flags.named(other) {
                *set = flag(name, value)?;
            }
        }
    }
    Ok(())
}

/// A severity by its name, or by the name that other software has for it.
pub(super) fn severity(value: &str) -> Result<Severity, Reason> {
    match value.to_ascii_lowercase().as_str() {
        "suspend" => Ok(Severity::Suspend),
        "silence" | "limit" => Ok(Severity::Silence),
        "noop" | "none" => Ok(Severity::Noop),
        _ => Err(format!("has an unknown severity {:?}: it must be suspend, silence or noop", clip(value)).into()),
    }
}

fn flag(name: &str, value: &str) -> Result<bool, Reason> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "t" | "1" | "yes" | "on" => Ok(true),
        "false" | "f" | "0" | "no" | "off" => Ok(false),
        _ => Err(format!("has the value {:?} for {name}: it must be true or false", clip(value)).into()),
    }
}

fn text(value: &str) -> Result<Option<String>, Reason> {
    comment(Some(value.to_owned())).map_err(|error| format!("cannot be stored: {error}").into())
}

/// The beginning of a text, for a message.
pub(super) fn clip(text: &str) -> String {
    text.chars().take(80).collect()
}
