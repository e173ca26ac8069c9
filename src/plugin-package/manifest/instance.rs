//! The members that a plugin may add to the instance documents: new ones only, and none that clients read as the
//! server's.
//!
//! Checked when a manifest is loaded, and again for the result of the export `instance-info`.

use super::Instance;
use super::paths::is_word;

/// Members of the instance documents, v1 and v2. Reserved in both, also where one lacks a member; so are the members of
/// their objects, except for [`OPEN`].
const MEMBERS: &[&str] = &[
    "approval_required",
    "configuration",
    "contact",
    "contact_account",
    "description",
    "domain",
    "email",
    "icon",
    "invites_enabled",
    "languages",
    "registrations",
    "rules",
    "short_description",
    "source_url",
    "stats",
    "thumbnail",
    "title",
    "uri",
    "urls",
    "usage",
    "version",
    "wrapstodon",
];

/// Members of the documents' `configuration`.
const CONFIGURATION: &[&str] = &[
    "accounts",
    "limited_federation",
    "media_attachments",
    "polls",
    "search",
    "statuses",
    "timelines_access",
    "translation",
    "urls",
    "vapid",
];

/// The interfaces of `api_versions` that are the server's.
const VERSIONS: &[&str] = &["kmyblue", "mastodon", "rookery"];

/// Objects of the documents that plugins add members to, with the members that are reserved in them.
const OPEN: &[(&str, &[&str])] = &[("configuration", CONFIGURATION), ("api_versions", VERSIONS)];

/// True when the member at `path` (`configuration.urls`, `title`) is the server's own.
#[must_use]
pub fn is_reserved(path: &str) -> bool {
    let Some((parent, name)) = path.split_once('.') else {
        return MEMBERS.contains(&path);
    };
    match OPEN.iter().find(|(open, _)| *open == parent) {
        Some((_, reserved)) => reserved.contains(&name),
        None => MEMBERS.contains(&parent),
    }
}

/// Checks `[instance]`; the error is a sentence about it.
pub(super) fn check(instance: &Instance) -> Result<(), String> {
    let configuration = instance.configuration.keys().map(|name| ("configuration", name));
    for (key, name) in configuration.chain(instance.api_versions.keys().map(|name| ("api_versions", name))) {
        let shown = key.replace('_', "-");
        if !is_word(name) || name.len() > 64 {
            return Err(format!("instance, {shown}: {name:?} is not of small letters, digits and _, a letter first"));
        }
        if is_reserved(&format!("{key}.{name}")) {
            return Err(format!("instance, {shown}: {name} is the server's own: choose another name"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plugin_adds_no_member_of_the_servers_own() {
        for path in ["urls", "rules", "title", "configuration.urls", "configuration.vapid", "urls.streaming_api"] {
            assert!(is_reserved(path), "{path}");
        }
        for path in ["configuration.reactions", "api_versions.reactions", "fedibird_capabilities", "notes.most"] {
            assert!(!is_reserved(path), "{path}");
        }
        let instance = |text: &str| check(&toml::from_str(text).expect(text));
        assert_eq!(instance("configuration = { notes = { most = 3 } }\napi-versions = { notes = 1 }"), Ok(()));
        for (text, wanted) in [
            ("configuration = { urls = { streaming = \"wss://other.example\" } }", "urls is the server's own"),
            ("configuration = { \"urls.streaming\" = \"wss://other.example\" }", "is not of small letters"),
            ("configuration = { \"a\\\"b\" = 1 }", "is not of small letters"),
            ("api-versions = { mastodon = 99 }", "mastodon is the server's own"),
        ] {
            let error = instance(text).expect_err(text);
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }
}
