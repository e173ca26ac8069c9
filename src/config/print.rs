//! The output of `rookery config print`: every key with its documentation, default, value and origin.

use std::fmt::Write as _;

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
