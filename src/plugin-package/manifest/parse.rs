//! Parses text to [`Manifest`]; an unknown key or word is refused, suggesting the nearest known one.

use rookery_plugin_host::{LoadError, Stage};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Limits, Manifest, printable, rules};
use config::nearest;

/// The version of the contract that this server offers.
pub const API: &str = "0.1";

/// Parses a `plugin.toml` and checks everything that can be checked from it alone.
///
/// # Errors
/// The first fault, at [`Stage::Validate`]; at [`Stage::Contract`] for a contract version that is not offered.
pub fn parse(text: &str) -> Result<Manifest, LoadError> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        LoadError::new(Stage::Validate, format!("plugin.toml, line {line}: {}", one_line(error.message())))
    })?;
    let value = serde_json::to_value(table)
        .map_err(|error| LoadError::new(Stage::Validate, format!("plugin.toml: {}", one_line(&error.to_string()))))?;
    let name = value.pointer("/plugin/name").and_then(Value::as_str).filter(|name| rules::is_name(name));
    let of = name.map_or_else(|| "plugin.toml".to_owned(), |name| format!("plugin.toml of {name}"));
    printable::check(&value).map_err(|problem| LoadError::new(Stage::Validate, format!("{of}: {problem}")))?;
    let manifest: Manifest =
        read(value).map_err(|problem| LoadError::new(Stage::Validate, format!("{of}: {problem}")))?;
    if manifest.plugin.api != API {
        let offered = &manifest.plugin.api;
        return Err(LoadError::new(
            Stage::Contract,
            format!(
                "{of}: it is built for contract {offered:?} and this server offers {API:?}: build it with the SDK of {API}, \
                 or update the server"
            ),
        ));
    }
    rules::check(&manifest).map_err(|problem| LoadError::new(Stage::Validate, format!("{of}: {problem}")))?;
    Ok(manifest)
}

/// Limits as an admin gives them: a JSON object with the keys of `[limits]`.
///
/// # Errors
/// A message about the first invalid limit.
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

/// The position of a key in the file: `[limits]`, `route 2`, `route 2, page`; tables are counted from 1.
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

/// serde's error, reworded: its `unknown field` and `unknown variant` list every known one.
fn problem(place: &str, complaint: &str) -> String {
    let at = |place: &str| if place.is_empty() { String::new() } else { format!("{place}: ") };
    let mut quoted = complaint.split('`').skip(1).step_by(2).map(str::to_owned);
    let word = quoted.next().unwrap_or_default();
    if complaint.starts_with("unknown field") {
        // The path may already end in the key itself.
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

/// Collapses line breaks and runs of spaces: a fault is one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLUGIN: &str = "[plugin]\nname = \"notes\"\nversion = \"1.0.0\"\napi = \"0.1\"\ntitle = \"Notes\"\n\
                          license = \"MIT\"\nwasm = \"notes.wasm\"\n";

    fn sentence(more: &str) -> String {
        parse(&format!("{PLUGIN}{more}")).unwrap_err().message
    }

    fn route(path: &str, more: &str) -> String {
        format!("[[route]]\nid = \"a\"\nmethod = \"GET\"\npath = \"{path}\"\nauth = \"user\"\n{more}")
    }

    #[test]
    fn unknown_key_is_named_with_nearest_known() {
        for (more, wanted) in [
            (
                "[limits]\nmemroy = \"1MiB\"",
                "plugin.toml of notes: limits: there is no key \"memroy\"; did you mean \"memory\"?",
            ),
            ("[limts]\n", "plugin.toml of notes: there is no key \"limts\"; did you mean \"limits\"?"),
            (
                "[permissions]\ncore = [\"reed\"]",
                "plugin.toml of notes: permissions, core: there is no \"reed\"; did you mean \"read\"?",
            ),
            (
                "[permissions]\nfederation = [\"fetch\"]",
                "plugin.toml of notes: permissions, federation: plugins cannot take part in federation yet: leave it out",
            ),
            (
                "[[hook]]\non = \"fan-out\"",
                "plugin.toml of notes: hook 1, on: \"fan-out\" is not one of status-filter, sign-up, events, notification-filter, activity-filter, activity-handler, fanout, decorate, channels",
            ),
            (
                "[[hook]]\non = \"events\"\nkinds = [\"status.create\"]",
                "plugin.toml of notes: hook on \"events\": kinds: there is no \"status.create\"; did you mean \"status.created\"?",
            ),
            ("[[feed]]\n", "plugin.toml of notes: feed 1: the key \"name\" is missing"),
        ] {
            assert_eq!(sentence(more), wanted);
        }
        let wrong = sentence("x = \n");
        assert!(wrong.starts_with("plugin.toml, line 8: "), "{wrong}");
        let newer = PLUGIN.replace("api = \"0.1\"", "api = \"0.9\"");
        assert_eq!(
            parse(&newer).unwrap_err().to_string(),
            "contract: plugin.toml of notes: it is built for contract \"0.9\" and this server offers \"0.1\": build it with the SDK \
             of 0.1, or update the server"
        );
    }

    #[test]
    fn keys_and_words_of_earlier_drafts_are_unknown() {
        let get = |more: &str| route("/api/v1/decks", more);
        for (more, wanted) in [
            ("[permissions]\nsql-dynamic = true".to_owned(), "permissions: there is no key \"sql-dynamic\""),
            (
                "[permissions]\ncore-write = [\"widen\"]".to_owned(),
                "core-write: \"widen\" is not one of create, delete",
            ),
            (get("transaction = \"none\""), "route 1: there is no key \"transaction\""),
            (get("").replace("\"user\"", "\"app\""), "route 1, auth: \"app\" is not one of user, optional, none"),
            ("[[hook]]\non = \"fanout\"\nbefore = [\"a\"]".to_owned(), "hook 1: there is no key \"before\""),
            ("[[hook]]\non = \"fanout\"\ntimeout = \"1s\"".to_owned(), "hook 1: there is no key \"timeout\""),
            (
                "[[hook]]\non = \"decorate\"\npolicy = \"fail\"".to_owned(),
                "policy: \"fail\" is not one of skip, refuse",
            ),
            ("[[schedule]]\njob = \"a\"\ncron = \"\"\noverlap = true".to_owned(), "there is no key \"overlap\""),
        ] {
            let error = sentence(&more);
            assert!(error.contains(wanted), "{more}: {error}");
        }
    }

    #[test]
    fn routes_stay_where_plugins_may_be() {
        for (path, more, wanted) in [
            ("/@{name}", "", "neither plain text nor a parameter"),
            ("/api/v1/{resource}", "", "would take every resource"),
            ("/api/v1/statuses", "", "is a resource of the server"),
            ("/api/v1/statuses/{id}/deck", "", "say nested-under = \"statuses\""),
            ("/api/v1/decks/{id}", "nested-under = \"statuses\"", "does not go on from that resource"),
            ("/api/v1/a//b", "", "neither plain text nor a parameter"),
            ("/api/v1/decks/{id}/{id}", "", "two parameters of one name"),
            ("/api/v1/decks", "params = { id = \"id\" }", "has no such parameter"),
            ("/api/v1/decks", "scopes = [\"read:decks\"]", "there is no scope \"read:decks\""),
            ("/api/v1/decks", "scopes = [\"decks\"]", "there is no scope \"decks\""),
            ("/api/v1/decks", "rate = \"many\"", "is not a number and a time"),
            ("/api/v1/decks", "native = { statement = \"all\" }", "there is no [sql]"),
            ("/api/v1/decks", "native = { feed = \"deck:{id}\" }", "there is no [[feed]] called \"deck\""),
            ("/api/v1/decks", "page = { default = 50, max = 40 }", "default is at most max"),
            ("/api/v1/decks", "cache = true", "others may only keep what GET answers to anyone"),
        ] {
            let error = sentence(&route(path, more));
            assert!(
                error.starts_with("plugin.toml of notes: route \"a\": ") && error.contains(wanted),
                "{path}: {error}"
            );
        }
        let kept = route("/api/v1/decks", "cache = true\nheaders = [\"X-Deck\"]").replace("\"user\"", "\"none\"");
        assert!(sentence(&kept).contains("a response that depends on headers cannot be shared"));
        let twice =
            format!("{}{}", route("/api/v1/decks/{a}", ""), route("/api/v1/decks/{b}", "").replace("\"a\"", "\"b\""));
        assert!(sentence(&twice).contains("two routes serve GET /api/v1/decks/{b}"));
        for good in [
            route("/api/v1/decks", ""),
            route("/invite/{code}", ""),
            route(
                "/api/v1/statuses/{id}/deck",
                "nested-under = \"statuses\"\nstatus-visible = \"id\"\nrate = \"300/5m\"",
            ),
        ] {
            parse(&format!("{PLUGIN}{good}")).expect(&good);
        }
    }

    #[test]
    fn scopes_have_their_own_family_and_a_description() {
        let scope =
            |name: &str, description: &str| format!("[[scope]]\nname = \"{name}\"\ndescription = \"{description}\"\n");
        for (more, wanted) in [
            (scope("read:decks", "Read decks"), "scope \"read:decks\": words of small letters"),
            (scope("admin", "Everything"), "of which the first is none of the server's"),
            (scope("Decks", "Decks"), "words of small letters"),
            (scope("decks", " "), "the description has 1 to 200 characters"),
            (scope("decks", &"x".repeat(201)), "the description has 1 to 200 characters"),
            (scope("decks", "Decks").repeat(2), "there are two scopes called \"decks\""),
            ("[[scope]]\nname = \"decks\"".to_owned(), "the key \"description\" is missing"),
        ] {
            let error = sentence(&more);
            assert!(error.contains(wanted), "{more}: {error}");
        }
        let good = scope("decks", "Your decks") + &scope("decks:read", "Read your decks");
        let manifest =
            parse(&format!("{PLUGIN}{good}{}", route("/api/v1/decks", "scopes = [\"decks:read\", \"read:lists\"]")));
        assert_eq!(manifest.expect("good").scopes.len(), 2);
    }

    #[test]
    fn hooks_have_only_the_keys_of_their_moment() {
        for (more, wanted) in [
            ("on = \"fanout\"\npolicy = \"refuse\"", "the policy \"refuse\" is not one of \"skip\""),
            ("on = \"fanout\"\nparams = [\"x\"]", "params says nothing at this moment"),
            ("on = \"fanout\"\naudience = [\"x\"]", "audience says nothing at this moment"),
            ("on = \"status-filter\"\naudience = [\"x\"]", "audience names \"x\", and params does not"),
            ("on = \"sign-up\"", "params is empty"),
            ("on = \"events\"", "kinds is empty"),
            (
                "on = \"decorate\"\nkinds = [\"status\", \"account\"]\nfields = [\"x\"]",
                "kinds names one kind of entity",
            ),
            ("on = \"decorate\"\nkinds = [\"status\"]", "fields is empty"),
            ("on = \"fanout\"\ntypes = [\"mention\"]", "types says nothing at this moment"),
            ("on = \"decorate\"\nkinds = [\"status\"]\nfields = [\"x\"]\ntypes = [\"mention\"]", "of notifications"),
            (
                "on = \"decorate\"\nkinds = [\"notification\"]\nfields = [\"x\"]\ntypes = [\"mention\", \"wave\"]",
                "no notification of the type \"wave\"",
            ),
            ("on = \"decorate\"\nkinds = [\"trend\"]\nfields = [\"score\"]", "[\"weight\"]"),
            ("on = \"decorate\"\nkinds = [\"status\"]\nfields = [\"x\"]\ndefaults = { y = 1 }", "defaults names \"y\""),
            ("on = \"fanout\"\ncache = \"viewer\"", "cache says nothing at this moment"),
            ("on = \"decorate\"\nkinds = [\"account\"]\nfields = [\"x\"]\ncache = \"viewer\"", "for statuses only"),
            ("on = \"fanout\"\nwhen = { visibility = [\"secret\"] }", "there is no visibility \"secret\""),
            ("on = \"fanout\"\nbatch = { max = 8, wait = \"soon\" }", "wait: \"soon\" is not a time"),
            ("on = \"activity-filter\"", "federation"),
        ] {
            let error = sentence(&format!("[[hook]]\n{more}"));
            assert!(error.contains(wanted), "{more}: {error}");
        }
        let twice = "[[hook]]\non = \"fanout\"\n[[hook]]\non = \"fanout\"\n";
        assert!(sentence(twice).contains("there are two hooks on \"fanout\""));
        assert!(sentence("[[schedule]]\njob = \"x\"\ncron = \"every day\"").contains("is not five fields"));
        assert!(sentence("[permissions]\nhttp = [\"https://*.org:443\"]").contains("top-level domain"));
        assert!(sentence("[permissions]\nhttp = [\"https://example.org\"]").contains("a scheme, a host and a port"));
    }

    #[test]
    fn feed_follows_rows_of_one_account_table() {
        let sql = "[sql]\nmigrations = \"m\"\nstatements = \"s.sql\"\nowner-columns = { notes = \"account_id\" }\n";
        let feed = |name: &str, of: &str| format!("[[feed]]\nname = \"{name}\"\nof = \"{of}\"\n");
        parse(&format!("{PLUGIN}{sql}{}", feed("a", "notes"))).expect("good");
        assert!(sentence(&format!("{sql}{}", feed("a", "tags"))).contains("of names \"tags\", and sql.owner-columns"));
        let twice = format!("{sql}{}{}", feed("a", "notes"), feed("b", "notes"));
        assert!(sentence(&twice).contains("there are two feeds of \"notes\""));
    }

    #[test]
    fn permissions_are_flat_list_with_interfaces() {
        let manifest = parse(&format!(
            "{PLUGIN}[permissions]\ncore = [\"read\"]\nqueue = true\nstorage = [\"kv\"]\n[[job]]\nkind = \"tidy\"\n"
        ))
        .expect("good");
        assert_eq!(manifest.requested().into_iter().collect::<Vec<_>>(), ["core:read", "queue", "storage:kv"]);
        use rookery_plugin_host::{Export, Import};
        assert!(manifest.imports().contains(&Import::Kv) && !manifest.imports().contains(&Import::Cache));
        assert_eq!(manifest.exports().into_iter().collect::<Vec<_>>(), [Export::Jobs]);
    }

    #[test]
    fn reference_names_every_key() {
        let reference = include_str!("../../../plugin-sdk/MANIFEST.md");
        let source = concat!(include_str!("mod.rs"), include_str!("pages.rs"));
        let mut renamed = None;
        for line in source.lines() {
            renamed =
                line.split_once("rename = \"").map(|(_, rest)| rest.split('"').next().unwrap_or_default()).or(renamed);
            let Some((field, _)) = line
                .strip_prefix("    pub ")
                .and_then(|rest| rest.split_once(": "))
                .filter(|(field, _)| !field.contains(' '))
            else {
                continue;
            };
            let key = renamed.take().map_or_else(|| field.replace('_', "-"), str::to_owned);
            let forms = [format!("`{key}`"), format!("[{key}]"), format!("{key} = ")];
            assert!(forms.iter().any(|form| reference.contains(form)), "MANIFEST.md says nothing of {key}");
        }
    }
}
