//! `#[derive(Row)]`: the code that it generates.
//!
//! Reached from the crate's root alone. It sees names and types as written, and does not know the schema: tests that
//! prepare the statements check that columns exist.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Fields, Ident, LitStr, Type};

/// The most further columns in an insert, in addition to the columns of the struct.
const MOST_FURTHER: usize = 12;

/// A field with its attributes.
struct Field<'a> {
    ident: &'a Ident,
    column: String,
    flatten: bool,
    from: Option<Type>,
}

/// The attributes of a struct.
#[derive(Default)]
struct Options {
    table: Option<LitStr>,
    alias: Option<LitStr>,
}

/// Generates the implementations and macros for a struct.
pub(crate) fn derive(input: &DeriveInput) -> syn::Result<TokenStream> {
    if !input.generics.params.is_empty() {
        return Err(syn::Error::new_spanned(&input.generics, "a row has no parameters"));
    }
    let (options, fields) = (options(input)?, fields(input)?);
    let decode = decode(&input.ident, &fields);
    let Some(alias) = &options.alias else {
        return match options.table {
            Some(table) => Err(syn::Error::new(table.span(), "a table needs an alias")),
            None => Ok(decode),
        };
    };
    for field in &fields {
        if field.flatten || (field.from.is_some() && options.table.is_some()) {
            return Err(syn::Error::new_spanned(field.ident, "no column of a table by itself"));
        }
    }
    let columns = columns_macro(&input.ident, &alias.value(), &fields);
    let table = options.table.map(|table| table_of(&input.ident, &table.value(), &fields));
    Ok(quote!(#decode #columns #table))
}

fn options(input: &DeriveInput) -> syn::Result<Options> {
    let mut options = Options::default();
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("row")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("table") {
                options.table = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("alias") {
                options.alias = Some(meta.value()?.parse()?);
            } else {
                return Err(meta.error("expected `table` or `alias`"));
            }
            Ok(())
        })?;
    }
    Ok(options)
}

fn fields(input: &DeriveInput) -> syn::Result<Vec<Field<'_>>> {
    match &input.data {
        Data::Struct(data) if matches!(data.fields, Fields::Named(_)) => data.fields.iter().map(field).collect(),
        Data::Struct(_) | Data::Enum(_) | Data::Union(_) => {
            Err(syn::Error::new_spanned(input, "a row is a struct with named fields"))
        }
    }
}

fn field(field: &syn::Field) -> syn::Result<Field<'_>> {
    let Some(ident) = &field.ident else { return Err(syn::Error::new_spanned(field, "a field without a name")) };
    let mut known = Field { ident, column: ident.to_string(), flatten: false, from: None };
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("row")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("flatten") {
                known.flatten = true;
            } else if meta.path.is_ident("rename") {
                known.column = meta.value()?.parse::<LitStr>()?.value();
            } else if meta.path.is_ident("from") {
                known.from = Some(meta.value()?.parse::<LitStr>()?.parse()?);
            } else {
                return Err(meta.error("expected `flatten`, `rename` or `from`"));
            }
            Ok(())
        })?;
    }
    Ok(known)
}

/// Generates the implementation of `Row`.
fn decode(name: &Ident, fields: &[Field<'_>]) -> TokenStream {
    let values = fields.iter().map(|Field { ident, column, flatten, from }| match (flatten, from) {
        (true, _) => quote!(#ident: ::model::row::Row::decode(columns)?),
        (false, None) => quote!(#ident: ::model::row::Columns::named(columns, #column)?),
        (false, Some(from)) => {
            quote!(#ident: ::core::convert::From::from(::model::row::Columns::named::<#from>(columns, #column)?))
        }
    });
    quote! {
        #[automatically_derived]
        impl ::model::row::Row for #name {
            fn decode(
                columns: &impl ::model::row::Columns,
            ) -> ::core::result::Result<Self, ::model::row::Error> {
                ::core::result::Result::Ok(Self { #(#values),* })
            }
        }
    }
}

/// Generates `…_columns!()`.
fn columns_macro(name: &Ident, alias: &str, fields: &[Field<'_>]) -> TokenStream {
    let columns: Vec<String> = fields.iter().map(|field| format!("{alias}.{}", field.column)).collect();
    let columns = columns.join(", ");
    exported(name, "columns", &quote!(() => { #columns };))
}

/// Generates the implementation of `Table`, and `…_insert!()`.
fn table_of(name: &Ident, table: &str, fields: &[Field<'_>]) -> TokenStream {
    let idents = fields.iter().map(|field| field.ident);
    let insert = exported(name, "insert", &(0..=MOST_FURTHER).map(|further| arm(table, fields, further)).collect());
    quote! {
        #[automatically_derived]
        impl ::model::row::Table for #name {
            fn bind_to<B: ::model::row::Binder>(&self, binder: B) -> B {
                #(let binder = ::model::row::Binder::value(binder, &self.#idents);)*
                binder
            }
        }
        #insert
    }
}

/// The arm of `…_insert!` for this number of `further` columns.
fn arm(table: &str, fields: &[Field<'_>], further: usize) -> TokenStream {
    let names: Vec<Ident> = (0..further).map(|n| format_ident!("column{n}")).collect();
    let columns: Vec<&str> = fields.iter().map(|field| field.column.as_str()).collect();
    let numbers: Vec<String> = (1..=further + columns.len()).map(|n| format!("${n}")).collect();
    let head = format!("INSERT INTO {table} (");
    let tail = format!("{}) VALUES ({})", columns.join(", "), numbers.join(", "));
    quote!((#($#names:literal),*) => { concat!(#head, #($#names, ", ",)* #tail) };)
}

/// An exported macro with these arms, named after the struct and the kind of list.
fn exported(name: &Ident, kind: &str, arms: &TokenStream) -> TokenStream {
    let name = format_ident!("{}_{kind}", snake_case(&name.to_string()));
    quote! {
        #[doc(hidden)]
        #[macro_export]
        macro_rules! #name { #arms }
    }
}

/// `MediaAttachment` as `media_attachment`, `TokenRow` as `token`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for c in name.strip_suffix("Row").unwrap_or(name).chars() {
        if c.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_are_named_after_the_struct_without_row() {
        assert_eq!(snake_case("MediaAttachment"), "media_attachment");
        assert_eq!(snake_case("TokenRow"), "token");
    }
}
