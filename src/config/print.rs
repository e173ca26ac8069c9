//! The output of `rookery config print`: every key with its documentation, default, value and origin.

use std::fmt::Write as _;

use serde::Serialize;

use super::{Config, SECTIONS, fault::Origin, load::Effective, table::Key, value::Value};

impl Config {
    /// This configuration as a TOML file with comments; keys at their default are commented out, so that the output can
    /// be saved and edited. With `redact_secrets` it contains no secret.
    pub fn to_toml_with_comments(&self, redact_secrets: bool) -> String {
        let mut out = String::from(
            "# The configuration of Rookery: every key, with the value in force.\n\
             # Environment variables override this file; commas separate the items of a list there.\n\
             # A secret can be read from a file:\n\
             # key_file in place of key, ROOKERY_SECRETS_KEY_FILE in place of ROOKERY_SECRETS_KEY.\n",
        );
        for section in SECTIONS {
            out.push('\n');
            comment(&mut out, section.doc);
            out.extend(["[", section.name, "]\n"]);
            for key in section.keys {
                out.push('\n');
                comment(&mut out, key.doc);
                let effective = self.effective.iter().find(|effective| effective.path == key.path());
                if let Some(effective) = effective {
                    entry(&mut out, key, effective, redact_secrets);
                }
            }
        }
        out
    }
}

/// A key of the configuration with its value, for programs.
#[derive(Debug, Serialize)]
pub struct Entry {
    /// `section.name`.
    pub key: String,
    pub value: Value,
    /// In words, as the file has it.
    pub default: String,
    /// The environment variable that overrides it.
    pub variable: String,
    /// Where the value comes from, in words; `None` for the default.
    pub set_by: Option<String>,
    pub about: String,
}

impl Config {
    /// Every key with its value; with `redact_secrets` without secrets.
    #[must_use]
    pub fn entries(&self, redact_secrets: bool) -> Vec<Entry> {
        let keys = SECTIONS.iter().flat_map(|section| section.keys);
        keys.filter_map(|key| {
            let effective = self.effective.iter().find(|effective| effective.path == key.path())?;
            let value = if redact_secrets { &effective.redacted } else { &effective.value };
            let set_by = (!matches!(effective.origin, Origin::Default)).then(|| effective.origin.to_string());
            let about = key.doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
            Some(Entry {
                key: key.path(),
                value: value.clone(),
                default: key.default_text(),
                variable: key.variable(),
                set_by,
                about,
            })
        })
        .collect()
    }
}

fn comment(out: &mut String, doc: &[&str]) {
    for line in doc {
        out.extend(["#", line, "\n"]);
    }
}

fn entry(out: &mut String, key: &Key, effective: &Effective, redact_secrets: bool) {
    let name = key.name;
    let value = if redact_secrets { &effective.redacted } else { &effective.value };
    // Writing to a String cannot fail.
    let _ = writeln!(out, "# Takes {}.", key.expected());
    let _ = writeln!(out, "# Default: {}. Variable: {}.", key.default_text(), key.variable());
    let _ = match &effective.origin {
        Origin::Default => writeln!(out, "# {name} = {value}"),
        Origin::SecretFile(path, _) if redact_secrets => {
            let path = Value::Text(path.to_string_lossy().into_owned());
            writeln!(out, "# Set by {}.\n{name}_file = {path}", effective.origin)
        }
        Origin::Line(..) | Origin::Variable(_) | Origin::SecretFile(..) => {
            writeln!(out, "# Set by {}.\n{name} = {value}", effective.origin)
        }
    };
}
