//! The attribute [`parameters`](super::parameters()): the types of the fields of a struct of request parameters
//! determine how they are read.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::{Attribute, Error, Field, Fields, GenericArgument, ItemStruct, PathArguments, Type, parse_quote};

pub(super) fn parameters(mut item: ItemStruct) -> Result<TokenStream, Error> {
    let Fields::Named(fields) = &mut item.fields else {
        return Err(Error::new_spanned(&item, "parameters have names"));
    };
    // Without a default for the struct, each field has a separate one.
    let whole = item.attrs.iter().any(|attribute| attribute.path().is_ident("derive") && has(attribute, "Default"));
    for field in fields.named.iter_mut().filter(|field| !says_itself(field)) {
        let Some(inner) = optional(&field.ty) else { continue };
        let (reader, is_time) = (reader(inner), is(inner, "Time"));
        let reader = format!("model::params::{reader}");
        field.attrs.push(if whole {
            parse_quote!(#[serde(deserialize_with = #reader)])
        } else {
            parse_quote!(#[serde(default, deserialize_with = #reader)])
        });
        if is_time && !field.attrs.iter().any(|attribute| attribute.path().is_ident("schemars")) {
            field.attrs.push(parse_quote!(#[schemars(with = "Option<String>")]));
        }
    }
    if whole {
        item.attrs.push(parse_quote!(#[serde(default)]));
    }
    Ok(quote!(#item))
}

/// The function of `model::params` that reads a value of this type.
fn reader(inner: &Type) -> &'static str {
    if let Some(item) = argument(inner, "Vec") {
        // A list of ids has no duplicates.
        return if name(item).is_some_and(|name| name.ends_with("Id")) { "distinct" } else { "list" };
    }
    match name(inner).as_deref() {
        Some("String") => "text",
        Some("bool") => "flag",
        Some("i64" | "u64" | "i32" | "u32" | "u16" | "usize") => "int",
        Some("Time") => "time",
        _ => "word",
    }
}

/// True when an attribute of the field overrides how it is read.
fn says_itself(field: &Field) -> bool {
    let serde = field.attrs.iter().filter(|attribute| attribute.path().is_ident("serde"));
    serde.into_iter().any(|attribute| has(attribute, "deserialize_with") || has(attribute, "flatten"))
}

fn has(attribute: &Attribute, word: &str) -> bool {
    attribute
        .meta
        .to_token_stream()
        .to_string()
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .any(|one| one == word)
}

fn optional(of: &Type) -> Option<&Type> {
    argument(of, "Option")
}

/// `T` of `Outer<T>`.
fn argument<'a>(of: &'a Type, outer: &str) -> Option<&'a Type> {
    let Type::Path(path) = of else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == outer)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) => Some(inner),
        _ => None,
    }
}

fn name(of: &Type) -> Option<String> {
    let Type::Path(path) = of else { return None };
    path.path.segments.last().map(|last| last.ident.to_string())
}

fn is(of: &Type, wanted: &str) -> bool {
    name(of).is_some_and(|name| name == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str) -> String {
        let item: ItemStruct = syn::parse_str(text).expect("a struct");
        parameters(item).expect("made").to_string().replace(' ', "")
    }

    #[test]
    fn type_of_a_field_chooses_its_reader() {
        for (of, reader) in [
            ("String", "text"),
            ("bool", "flag"),
            ("u32", "int"),
            ("Vec<StatusId>", "distinct"),
            ("Vec<model::Word>", "list"),
            ("Vec<String>", "list"),
            ("Visibility", "word"),
            ("model::Time", "time"),
        ] {
            let made = made(&format!("struct P {{ f: Option<{of}> }}"));
            let wanted = format!("#[serde(default,deserialize_with=\"model::params::{reader}\")]");
            assert!(made.contains(&wanted), "{of}: {made}");
        }
    }

    #[test]
    fn default_of_the_whole_serves_all_fields() {
        let made = made("#[derive(Debug, Default)] struct P { f: Option<bool> }");
        assert!(made.contains("#[serde(default)]structP{#[serde(deserialize_with="), "{made}");
    }

    #[test]
    fn field_that_says_itself_is_left_alone() {
        let text =
            "struct P { #[serde(deserialize_with = \"mine\")] f: Option<bool>, #[serde(flatten)] rest: Map, id: Id }";
        let made = made(text);
        assert_eq!(made.matches("deserialize_with").count(), 1, "{made}");
    }
}
