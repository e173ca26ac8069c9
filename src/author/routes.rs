//! The routes of a plugin in Rust, written once: a build writes what `#[route]` states into the manifest.
//!
//! Of a `[[route]]`, `id`, `method`, `path` and `scopes` come from the attribute; the other keys, comments and the order
//! stay as they are. Routes without a function are removed, unless they are native. Other languages write the manifest
//! by hand. Sources that do not parse are left to the compiler.
//!
//! Keys: plugin-sdk/MANIFEST.md.

use std::collections::BTreeMap;
use std::path::Path;

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, Item, LitStr, Token, bracketed};
use toml_edit::{Array, ArrayOfTables, DocumentMut, Table, value};

use terminal::Failure;

/// A route as its attribute states it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Route {
    /// In capitals.
    methods: Vec<String>,
    path: String,
    scopes: Vec<String>,
    id: Option<String>,
}

/// Writes the routes of the plugin in `folder` into its manifest; does nothing for other languages, and for a manifest
/// that cannot be read, which [`Project::open`](super::project::Project::open) reports.
///
/// # Errors
/// When the manifest cannot be written.
pub(crate) fn write(folder: &Path) -> Result<(), Failure> {
    let path = folder.join("plugin.toml");
    let Ok(text) = std::fs::read_to_string(&path) else { return Ok(()) };
    let Some(routes) = stated(folder) else { return Ok(()) };
    match updated(&text, routes) {
        Some(new) if new != text => {
            std::fs::write(&path, new).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

/// `manifest` with `routes`, by id; `None` when it is not TOML, or of a plugin in another language.
fn updated(manifest: &str, routes: BTreeMap<String, Route>) -> Option<String> {
    let document: DocumentMut = manifest.parse().ok()?;
    let is_rust = document.get("build")?.get("language")?.as_str()? == "rust";
    if is_rust { merged(document, routes) } else { None }
}

/// `None` without routes: a plugin on the bare bindings has no attributes, and its manifest is its only list.
fn merged(mut document: DocumentMut, mut routes: BTreeMap<String, Route>) -> Option<String> {
    if routes.is_empty() {
        return None;
    }
    if let Some(tables) = document.get_mut("route").and_then(|item| item.as_array_of_tables_mut()) {
        tables.retain(|table| table.contains_key("native") || id_of(table).is_some_and(|id| routes.contains_key(id)));
        for table in tables.iter_mut() {
            if let Some(route) = id_of(table).map(str::to_owned).and_then(|id| routes.remove(&id)) {
                set(table, &route);
            }
        }
    }
    if !routes.is_empty() {
        let item = document.entry("route").or_insert_with(|| ArrayOfTables::new().into());
        let tables = item.as_array_of_tables_mut()?;
        for (id, route) in routes {
            let mut table = Table::new();
            table["id"] = value(id);
            set(&mut table, &route);
            table["auth"] = value(if route.scopes.is_empty() { "none" } else { "user" });
            tables.push(table);
        }
    }
    Some(document.to_string())
}

fn id_of(table: &Table) -> Option<&str> {
    table.get("id")?.as_str()
}

/// Writes the keys of the attribute that differ.
fn set(table: &mut Table, route: &Route) {
    let list = |key: &str, table: &Table| -> Vec<String> {
        let item = table.get(key);
        let one = item.and_then(|item| item.as_str()).map(str::to_owned);
        let all = item.and_then(|item| item.as_array()).into_iter().flatten().filter_map(|word| word.as_str());
        let mut words: Vec<String> = one.into_iter().chain(all.map(str::to_owned)).collect();
        words.sort();
        words
    };
    let sorted = |words: &[String]| {
        let mut words = words.to_vec();
        words.sort();
        words
    };
    let methods: Vec<String> = list("method", table).iter().map(|method| method.to_ascii_uppercase()).collect();
    if methods != sorted(&route.methods) {
        table["method"] = match route.methods.as_slice() {
            [one] => value(one),
            several => value(several.iter().collect::<Array>()),
        };
    }
    if table.get("path").and_then(|item| item.as_str()) != Some(&route.path) {
        table["path"] = value(&route.path);
    }
    if list("scopes", table) != sorted(&route.scopes) {
        table["scopes"] = value(route.scopes.iter().collect::<Array>());
    }
}

/// The routes in the sources below `src`, by id; `None` when one of them does not parse.
fn stated(folder: &Path) -> Option<BTreeMap<String, Route>> {
    let mut routes = BTreeMap::new();
    let mut folders = vec![folder.join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).ok()?.flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                collect(&syn::parse_file(&std::fs::read_to_string(path).ok()?).ok()?.items, &mut routes)?;
            }
        }
    }
    Some(routes)
}

fn collect(items: &[Item], routes: &mut BTreeMap<String, Route>) -> Option<()> {
    for item in items {
        match item {
            Item::Fn(function) => {
                let attributes = function.attrs.iter();
                let named = |attribute: &&syn::Attribute| {
                    attribute.path().segments.last().is_some_and(|last| last.ident == "route")
                };
                for attribute in attributes.filter(named) {
                    let route: Route = attribute.parse_args().ok()?;
                    let id = route.id.clone().unwrap_or_else(|| function.sig.ident.to_string());
                    routes.insert(id, route);
                }
            }
            Item::Mod(inner) if !inner.attrs.iter().any(is_for_tests) => {
                collect(inner.content.as_ref().map_or(&[], |(_, items)| items), routes)?;
            }
            _ => {}
        }
    }
    Some(())
}

fn is_for_tests(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("cfg") && attribute.parse_args::<Ident>().is_ok_and(|condition| condition == "test")
}

/// The arguments of the attribute, as `plugin-sdk/rust/macros` reads them.
impl Parse for Route {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let methods: Vec<Ident> = if input.peek(syn::token::Bracket) {
            let content;
            bracketed!(content in input);
            Punctuated::<Ident, Token![,]>::parse_terminated(&content)?.into_iter().collect()
        } else {
            vec![input.parse()?]
        };
        input.parse::<Token![,]>()?;
        let path = input.parse::<LitStr>()?.value();
        let methods = methods.iter().map(|method| method.to_string().to_ascii_uppercase()).collect();
        let mut route = Self { methods, path, scopes: Vec::new(), id: None };
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            let key: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            if key == "id" {
                route.id = Some(input.parse::<LitStr>()?.value());
            } else {
                let content;
                bracketed!(content in input);
                let scopes = Punctuated::<LitStr, Token![,]>::parse_terminated(&content)?;
                route.scopes = scopes.iter().map(LitStr::value).collect();
            }
        }
        Ok(route)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[build]\nlanguage = \"rust\"\n\n# Shelves.\n[[route]]\nid = \"shelves\" # all\nmethod = \"get\"\n\
                            path = \"/api/v1/shelf\"\nauth = \"optional\"\nscopes = [\"read:lists\"]\n\n\
                            [[route]]\nid = \"gone\"\nmethod = \"GET\"\npath = \"/gone\"\nauth = \"none\"\n\n\
                            [[route]]\nid = \"fast\"\nnative = \"list\"\nmethod = \"GET\"\npath = \"/fast\"\nauth = \"none\"\n\n\
                            [[hook]]\non = \"event\"\n";

    fn routes(source: &str) -> Option<BTreeMap<String, Route>> {
        let mut routes = BTreeMap::new();
        collect(&syn::parse_file(source).unwrap().items, &mut routes)?;
        Some(routes)
    }

    #[test]
    fn manifest_gets_the_routes_of_the_sources_and_keeps_the_rest() {
        let source = "#[rookery_plugin::route(get, \"/api/v1/shelves\", scopes = [\"read:lists\"])]\nfn shelves() {}\n\
                      mod deep { #[route([post, put], \"/api/v1/shelves/{id}\", id = \"change\", scopes = [\"write:lists\"],)] fn f() {} }\n\
                      #[cfg(test)] mod tests { #[route(get, \"/test\")] fn test() {} }\n";
        let new = updated(MANIFEST, routes(source).unwrap()).unwrap();
        let wanted = MANIFEST
            .replace("/api/v1/shelf\"", "/api/v1/shelves\"")
            .replace("[[route]]\nid = \"gone\"\nmethod = \"GET\"\npath = \"/gone\"\nauth = \"none\"\n\n", "");
        let (before, after) = wanted.split_once("[[hook]]").unwrap();
        assert!(new.starts_with(before) && new.contains(&format!("[[hook]]{after}")), "{new}");
        let added = "[[route]]\nid = \"change\"\nmethod = [\"POST\", \"PUT\"]\npath = \"/api/v1/shelves/{id}\"\n\
                     scopes = [\"write:lists\"]\nauth = \"user\"\n";
        assert!(new.contains(added) && !new.contains("/test"), "{new}");
        assert_eq!(updated(&new, routes(source).unwrap()).unwrap(), new, "a second build changes nothing");
    }

    #[test]
    fn manifests_of_the_repository_have_the_routes_of_their_sources() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let shipped = std::fs::read_dir(root.join("plugins")).unwrap().map(|entry| entry.unwrap().path());
        let mut compared = 0;
        for folder in shipped.chain(["rust", "cookbook"].map(|name| root.join("examples").join(name))) {
            let Ok(manifest) = std::fs::read_to_string(folder.join("plugin.toml")) else { continue };
            let Some(new) = merged(manifest.parse().unwrap(), stated(&folder).unwrap()) else { continue };
            assert_eq!(new, manifest, "{}", folder.display());
            compared += 1;
        }
        assert!(compared >= 10, "{compared}");
    }

    #[test]
    fn plugin_in_another_language_keeps_its_manifest() {
        let manifest = MANIFEST.replace("rust", "go");
        assert_eq!(updated(&manifest, BTreeMap::new()), None);
        assert_eq!(updated("[build", BTreeMap::new()), None);
        assert_eq!(updated(MANIFEST, BTreeMap::new()), None, "a plugin on the bare bindings keeps its list");
        assert_eq!(routes("#[route(what?)] fn f() {}"), None, "the compiler says what is wrong");
    }
}
