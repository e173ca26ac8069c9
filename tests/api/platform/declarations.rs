//! Routes of the router, and their declarations compared with the contract's table.
//!
//! Documents of the API are generated from declarations: response, caller, scopes and parameters. The modules of the
//! routes test that handlers match their declarations.

use std::collections::{BTreeMap, BTreeSet};

use axum::http::Method;
use rookery_http::operation::{Caller, Operation, Place};
use serde_json::Value;

use crate::platform::contract::{self, Route};

/// `GET /api/v1/accounts/:`: every parameter is a colon, since the table and the router may name parameters
/// differently.
pub type Name = String;

/// Differences between handlers and the table: row (`*` for all other rows), parameter, reason.
const KNOWN_DIFFERENCES: &[(&str, &str, &str)] = &[
    ("GET /api/v1/timelines/home", "local", "accepted and without effect: there is nothing to declare"),
    ("GET /api/v1/timelines/public", "lang", "the language of a visitor (docs/contract/rules.md#1-transport)"),
    ("GET /api/v1/timelines/tag/:hashtag", "lang", "as above"),
    ("GET /api/v1/notifications/unread_count", "include_filtered", "shares the filters of the list"),
    ("GET /api/v2/notifications/unread_count", "include_filtered", "as above"),
    ("POST /api/v1/accounts", "invite_code", "a parameter of the plugin's"),
    ("POST /api/v1/push/subscription", "subscription[standard]", "docs/contract/push.md#5-message: in which encoding"),
    ("PUT /api/v1/statuses/:id", "media_attributes[][id]", "an entry without one says nothing"),
    ("PUT /api/v1/statuses/:id", "poll", "declared by its members"),
    ("PUT /api/v1/statuses/:id", "poll[options]", "as above"),
    ("PUT /api/v1/statuses/:id", "poll[expires_in]", "as above"),
    ("PUT /api/v1/statuses/:id", "poll[multiple]", "as above"),
    ("PUT /api/v1/statuses/:id", "poll[hide_totals]", "as above"),
    ("POST /oauth/introspect", "token_type_hint", "ignored, as RFC 7662 allows: there is one type of token"),
    ("PUT /api/v1/admin/domain_blocks/:id", "domain", "shares the parameters of POST, and is ignored"),
    ("GET /oauth/authorize", "lang", "pages are in English"),
    ("GET /oauth/authorize", "response_mode", "docs/contract/rules.md#8-oauth-and-sign-up"),
    ("GET /oauth/authorize", "decision", "a field of the consent form"),
    ("GET /oauth/authorize", "_method", "as above"),
    ("POST /oauth/authorize", "lang", "pages are in English"),
    ("POST /oauth/authorize", "response_mode", "docs/contract/rules.md#8-oauth-and-sign-up"),
    ("POST /oauth/authorize", "decision", "a field of the consent form"),
    ("POST /oauth/authorize", "_method", "as above"),
    ("DELETE /oauth/authorize", "lang", "pages are in English"),
    ("DELETE /oauth/authorize", "response_mode", "docs/contract/rules.md#8-oauth-and-sign-up"),
    ("DELETE /oauth/authorize", "decision", "a field of the consent form"),
    ("DELETE /oauth/authorize", "_method", "as above"),
    (
        "*",
        "min_id",
        "wherever a route is paged (docs/contract/rules.md#4-pagination); the table leaves it out where no link uses it",
    ),
    ("*", "csrf", "how a form is protected is this server's own business"),
];

/// Every route with each of its methods.
pub fn routed() -> BTreeSet<Name> {
    rookery_http::router::operations().iter().map(name).collect()
}

/// A path of the table or of the router in the form of [`Name`].
pub fn plain(path: &str) -> String {
    let part = |part: &str| {
        let end = part.find(['{', ':']);
        end.map_or_else(|| part.to_owned(), |end| format!("{}:", &part[..end]))
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

fn name(operation: &Operation) -> Name {
    format!("{} {}", operation.method, plain(&operation.path))
}

/// A parameter by its bracketed name, in the table and in handlers.
#[derive(Debug, Default)]
struct Param {
    /// `string`, `integer`, `boolean`, `string[]`, `map`, `object`, `file`; the table may allow several.
    kinds: Vec<String>,
    required: bool,
    /// Belongs to an extension: the core may omit it.
    extension: bool,
    /// Default and maximum of a limit.
    limit: Option<(i64, i64)>,
}

/// The column `params`: `name:type(note)*;other[]:type[ext]; header Name:type`. `name[<…>]:type` is a map.
fn written(column: &str) -> BTreeMap<String, Param> {
    let mut params = BTreeMap::new();
    for text in outside_parentheses(column, ';').iter().map(|text| text.trim()).filter(|text| !text.is_empty()) {
        let (name, rest) = text.split_once(':').unwrap();
        let base = name.trim_start_matches("header ").trim_end_matches("[]");
        let (base, is_map) = base.split_once("[<").map_or((base, false), |(map, _)| (map, true));
        let bare: String = outside_parentheses(rest, '\0').concat();
        let token = bare.split(['*', ' ', '<']).next().unwrap().trim_end_matches("[ext]");
        let suffix = if name.ends_with("[]") { "[]" } else { "" };
        let param = Param {
            kinds: token
                .split('|')
                .map(|one| if is_map { "map".into() } else { format!("{}{suffix}", kind(one)) })
                .collect(),
            required: bare.contains('*'),
            extension: bare.contains("[ext]"),
            limit: if base == "limit" { limit(rest) } else { None },
        };
        params.insert(base.to_owned(), param);
    }
    params
}

/// The parts of `text` between `separator`s outside parentheses and braces. With NUL as the separator, the only part
/// omits the contents of parentheses and braces.
fn outside_parentheses(text: &str, separator: char) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for c in text.chars() {
        depth += i32::from(matches!(c, '(' | '{'));
        match (depth, c) {
            (0, c) if c == separator => parts.push(String::new()),
            (0, c) => parts.last_mut().unwrap().push(c),
            (_, c) if separator != '\0' => parts.last_mut().unwrap().push(c),
            _ => {}
        }
        depth -= i32::from(matches!(c, ')' | '}'));
    }
    parts
}

fn kind(word: &str) -> String {
    let (word, suffix) = word.strip_suffix("[]").map_or((word, ""), |word| (word, "[]"));
    let kind = match word {
        // A flag is set by any value.
        "string" | "id" | "enum" | "url" | "datetime" | "flag" => "string",
        "bool" => "boolean",
        "int" => "integer",
        "file" | "map" | "object" => word,
        other => panic!("unknown type in the table: {other}"),
    };
    format!("{kind}{suffix}")
}

/// `int(40,max 80; note)`; `None` without numbers.
fn limit(text: &str) -> Option<(i64, i64)> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok());
    numbers.next().zip(numbers.next())
}

/// Declared parameters of a handler, by bracketed name.
fn declared(operation: &Operation) -> BTreeMap<String, Param> {
    let mut params = BTreeMap::new();
    for sent in operation.parameters.iter().filter(|sent| sent.place != Place::Path) {
        let number = |name: &str| sent.schema[name].as_i64();
        match sent.place {
            Place::File => {
                params.insert(sent.name.clone(), Param { kinds: vec!["file".to_owned()], ..Param::default() });
            }
            _ => flatten(sent.name.clone(), &sent.schema, &mut params),
        }
        if let Some(param) = params.get_mut(&sent.name) {
            param.required = sent.required;
            param.limit = number("default").zip(number("maximum")).filter(|_| sent.name == "limit");
        }
    }
    params
}

fn flatten(name: String, schema: &Value, params: &mut BTreeMap<String, Param>) {
    let items = &schema["items"];
    let (prefix, fields_schema) = if schema["type"] == "array" { ("[]", items) } else { ("", schema) };
    if let Some(fields) = fields_schema["properties"].as_object() {
        for (field, schema) in fields {
            let name = format!("{name}{prefix}[{field}]");
            let required =
                fields_schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == field));
            flatten(name.clone(), schema, params);
            params.entry(name).and_modify(|param| param.required = required);
        }
        return;
    }
    let kind = match schema["type"].as_str() {
        Some("array") => format!("{}[]", items["type"].as_str().unwrap()),
        Some("object") if schema["additionalProperties"].is_object() => "map".to_owned(),
        Some(kind) => kind.to_owned(),
        None => "object".to_owned(),
    };
    params.insert(name, Param { kinds: vec![kind], ..Param::default() });
}

/// The column `params` of a row, which may refer to another row.
fn params_of(row: &Route, rows: &[Route]) -> BTreeMap<String, Param> {
    let other = match row.params.as_str() {
        "same as GET" => rows.iter().find(|other| other.path == row.path && other.method == "GET"),
        "as v2" => {
            rows.iter().find(|other| other.path == row.path.replace("/v1/", "/v2/") && other.method == row.method)
        }
        _ => Some(row),
    };
    written(&other.unwrap().params)
}

/// Scopes without a narrower one in the list: `read:accounts` of `read read:accounts`.
fn narrowest(scopes: &[String]) -> BTreeSet<&str> {
    let implies = |scope: &str| scopes.iter().any(|other| other.starts_with(&format!("{scope}:")));
    scopes.iter().map(String::as_str).filter(|scope| !implies(scope)).collect()
}

fn serves(row: &Route, caller: Caller) -> bool {
    match row.auth.as_str() {
        // A page has a session instead of a token.
        "public" => matches!(caller, Caller::Public | Caller::Session),
        "optional" => caller == Caller::Optional,
        "app" => caller == Caller::Application,
        "user" if row.notes.contains("an app token passes") => caller == Caller::Application,
        "user" => caller == Caller::User,
        "admin" => {
            matches!(caller, Caller::Staff(permission) if row.notes.contains(&format!("Permission: {permission}")))
        }
        other => panic!("unknown caller in the table: {other}"),
    }
}

/// Differences between the parameters of `operation` and its row: name and difference.
fn differences(operation: &Operation, row: &Route, rows: &[Route]) -> Vec<(String, String)> {
    let (written, declared) = (params_of(row, rows), declared(operation));
    let mut found = Vec::new();
    for (name, param) in &written {
        let Some(own) = declared.get(name) else {
            found.extend((!param.extension).then(|| (name.clone(), "is not declared".to_owned())));
            continue;
        };
        if !param.kinds.contains(&own.kinds[0]) {
            found.push((name.clone(), format!("is declared as {} and is {:?}", own.kinds[0], param.kinds)));
        }
        if (own.required, own.limit) != (param.required, param.limit) {
            found.push((name.clone(), format!("is declared as {own:?} and is {param:?}")));
        }
    }
    let beside = declared.keys().filter(|name| !written.contains_key(*name));
    found.extend(beside.map(|name| (name.clone(), "is in no row".to_owned())));
    found
}

/// The row of an operation: PUT and PATCH are interchangeable (docs/contract/rules.md#1-transport).
fn row_of<'a>(operation: &Operation, rows: &'a [Route]) -> Option<&'a Route> {
    let same = |method: &Method| {
        let wanted = format!("{method} {}", plain(&operation.path));
        rows.iter().find(|row| format!("{} {}", row.method, plain(&row.path)) == wanted)
    };
    same(&operation.method).or_else(|| same(&Method::PUT).filter(|_| operation.method == Method::PATCH))
}

/// The core's rows, and those of the admin API.
fn rows() -> Vec<Route> {
    contract::routes().into_iter().chain(contract::admin()).collect()
}

#[test]
fn routes_declare_responses_of_the_contract() {
    let rows = rows();
    let (mut faults, mut held) = (Vec::new(), 0);
    for (operation, policy) in rookery_http::router::declared() {
        let Some(row) = row_of(&operation, &rows).filter(|row| row.path.starts_with("/api/")) else { continue };
        assert_eq!(policy.kind, rookery_http::policy::RouteKind::Api, "{}", row.name());
        if operation.response != row.response.replace("::", "_") {
            faults.push(format!("{}: {} in the table, {} declared", row.name(), row.response, operation.response));
        }
        held += 1;
    }
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(held > 150, "{held}");
}

#[test]
fn routes_declare_callers_of_the_contract() {
    let (rows, operations) = (rows(), rookery_http::router::operations());
    let mut faults = Vec::new();
    for operation in &operations {
        let Some(row) = row_of(operation, &rows) else { continue };
        let security = operation.security;
        if !serves(row, security.caller) {
            faults.push(format!("{}: {} in the table, {:?} declared", row.name(), row.auth, security.caller));
        }
        if narrowest(&row.scopes) != security.scopes.iter().copied().collect() {
            faults.push(format!("{}: {:?} in the table, {:?} declared", row.name(), row.scopes, security.scopes));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn routes_declare_parameters_of_the_contract() {
    let (rows, operations) = (rows(), rookery_http::router::operations());
    let (mut faults, mut used, mut held) = (Vec::new(), BTreeSet::new(), 0);
    for operation in &operations {
        let Some(row) = row_of(operation, &rows) else { continue };
        for (param, how) in differences(operation, row, &rows) {
            let known = |(name, known, _): &&(&str, &str, &str)| *known == param && ["*", &row.name()].contains(name);
            match KNOWN_DIFFERENCES.iter().find(known) {
                Some((name, param, _)) => drop(used.insert((*name, *param))),
                None => faults.push(format!("{}: {param} {how}", row.name())),
            }
        }
        held += 1;
    }
    let unused = KNOWN_DIFFERENCES.iter().filter(|(name, param, _)| !used.contains(&(*name, *param)));
    faults.extend(unused.map(|(name, param, _)| format!("{name}: {param} is no difference any more")));
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(held > 100, "{held}");
}

#[test]
fn parameter_column_parses() {
    let column = "a:int(1,max 2; x)*;b[c][]:enum(d,e)[ext];uris:string|string[](max 9)*; header X-Y:string;\
                  limit:int(3,max 4) per kind;f:map<index,{name:string;value:string}>(max 6);g[<any>]:bool";
    let params = written(column);
    assert_eq!(params.keys().collect::<Vec<_>>(), ["X-Y", "a", "b[c]", "f", "g", "limit", "uris"]);
    assert_eq!((params["a"].required, params["a"].kinds.as_slice()), (true, ["integer".to_owned()].as_slice()));
    assert_eq!((params["b[c]"].extension, params["b[c]"].kinds.as_slice()), (true, ["string[]".to_owned()].as_slice()));
    assert_eq!((params["uris"].required, params["uris"].kinds.len()), (true, 2));
    assert_eq!((params["limit"].limit, params["f"].kinds[0].as_str()), (Some((3, 4)), "map"));
}
