//! What the router serves, read from its source: axum does not tell.

use std::collections::BTreeSet;
use std::path::Path;

use crate::contract;

/// `GET /api/v1/accounts/:`, every parameter a colon, so that the table's names and the router's need not agree.
pub type Name = String;

/// Every route with every method of it.
pub fn routed() -> BTreeSet<Name> {
    let mut found = BTreeSet::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/http"), &mut found);
    assert!(found.contains("GET /api/v1/statuses/:"), "the router was understood: {found:?}");
    found
}

/// A path of the table or of the router in the form of [`Name`].
pub fn plain(path: &str) -> String {
    let part = |part: &str| {
        let end = part.find(['{', ':']);
        end.map_or_else(|| part.to_owned(), |end| format!("{}:", &part[..end]))
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

fn read(folder: &Path, found: &mut BTreeSet<Name>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            routes_of(&std::fs::read_to_string(path).unwrap(), found);
        }
    }
}

fn routes_of(source: &str, found: &mut BTreeSet<Name>) {
    for (at, opening) in source.match_indices(".route(") {
        let call = &source[at + opening.len()..];
        let call = &call[..closing(call)];
        let Some((_, rest)) = call.split_once('"') else { continue };
        let Some((path, handlers)) = rest.split_once('"') else { continue };
        for method in ["get", "post", "put", "patch", "delete"] {
            let named = handlers.match_indices(&format!("{method}(")).any(|(at, _)| {
                !handlers[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_' || before == ':')
            });
            if named {
                found.insert(format!("{} {}", method.to_uppercase(), plain(path)));
            }
        }
    }
}

/// Where the call that begins before `text` ends.
fn closing(text: &str) -> usize {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

#[test]
fn the_router_reads() {
    let mut found = BTreeSet::new();
    let source = ".route(\"/@{a}/{id}\", get(a::show).put(a::get(1)))\n.route(\n  \"/b\",\n  post(b::create),\n)";
    routes_of(source, &mut found);
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["GET /@:/:", "POST /b", "PUT /@:/:"]);
}

#[test]
fn routes_declare_what_the_contract_says_they_answer() {
    let shape = |path: &str| -> String {
        let part = |part: &str| if part.starts_with([':', '{']) { "*".to_owned() } else { part.to_owned() };
        path.split('/').map(part).collect::<Vec<_>>().join("/")
    };
    let rows = contract::routes();
    let mut declared = 0;
    for (path, policy) in http::router::policies() {
        let same: Vec<_> = rows.iter().filter(|row| shape(&row.path) == shape(path)).collect();
        let Some(row) = same.iter().find(|row| row.method == "GET").or(same.first()) else { continue };
        if path.starts_with("/api/") {
            assert_eq!(policy.answer, row.response, "{path}");
            assert_eq!(policy.kind, http::policy::RouteKind::Api, "{path}");
            declared += 1;
        }
    }
    assert!(declared > 60, "{declared}");
}
