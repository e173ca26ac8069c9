//! Finds the functions of a crate that carry one of these attributes, in every module except test modules.

use std::path::{Path, PathBuf};

use syn::{Attribute, Item, ItemFn, ItemMod, LitStr, Meta};

use crate::{hook, route};

/// The export that a function handles, by its attribute.
pub(crate) enum Role {
    Route(String),
    Hook(String, Vec<String>),
    Job(String),
    Page(String),
    Submit(String),
    Command(String),
    Init,
    SelfTest,
}

/// A function with one of the attributes.
pub(crate) struct Found {
    pub(crate) role: Role,
    /// `antennas::accounts`
    pub(crate) module: Vec<String>,
    pub(crate) name: String,
}

/// The functions of a crate, from `src/lib.rs` down.
pub(crate) fn crate_at(folder: &Path) -> Result<Vec<Found>, String> {
    let root = folder.join("src/lib.rs");
    let mut found = Vec::new();
    file(&root, &folder.join("src"), &mut Vec::new(), &mut found)?;
    Ok(found)
}

/// Scans one file. `beside` is the folder of its child modules.
fn file(path: &Path, beside: &Path, module: &mut Vec<String>, found: &mut Vec<Found>) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    // A file that does not parse is left to rustc, which reports it better.
    let Ok(parsed) = syn::parse_file(&text) else { return Ok(()) };
    items(&parsed.items, beside, module, found)
}

fn items(items: &[Item], beside: &Path, module: &mut Vec<String>, found: &mut Vec<Found>) -> Result<(), String> {
    for item in items {
        match item {
            Item::Fn(function) => {
                let roles = function.attrs.iter().filter_map(|attribute| role(attribute, function));
                found.extend(roles.map(|role| Found {
                    role,
                    module: module.clone(),
                    name: function.sig.ident.to_string(),
                }));
            }
            Item::Mod(inner) if !for_tests(&inner.attrs) => {
                let name = inner.ident.to_string();
                let folder = beside.join(&name);
                module.push(name);
                match &inner.content {
                    Some((_, content)) => self::items(content, &folder, module, found)?,
                    None => file(&file_of(inner, beside, &folder), &folder, module, found)?,
                }
                module.pop();
            }
            _ => {}
        }
    }
    Ok(())
}

/// The file of a module: `x.rs`, `x/mod.rs`, or the file in `#[path]`.
fn file_of(module: &ItemMod, beside: &Path, folder: &Path) -> PathBuf {
    for attribute in &module.attrs {
        let Meta::NameValue(pair) = &attribute.meta else { continue };
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(path), .. }) = &pair.value else { continue };
        if pair.path.is_ident("path") {
            return beside.join(path.value());
        }
    }
    let inside = folder.join("mod.rs");
    if inside.exists() { inside } else { folder.with_extension("rs") }
}

fn for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string() == "test")
    })
}

fn role(attribute: &Attribute, function: &ItemFn) -> Option<Role> {
    let text = || attribute.parse_args::<LitStr>().ok().map(|text| text.value());
    Some(match attribute.path().segments.last()?.ident.to_string().as_str() {
        "route" => Role::Route(attribute.parse_args::<route::Attribute>().ok()?.id(function)),
        "on" => {
            let hook = attribute.parse_args::<hook::Attribute>().ok()?;
            Role::Hook(hook.moment(), hook.kinds)
        }
        "job" => Role::Job(text()?),
        "page" => Role::Page(text()?),
        "submit" => Role::Submit(text()?),
        "command" => Role::Command(text()?),
        "init" => Role::Init,
        "self_test" => Role::SelfTest,
        _ => return None,
    })
}
