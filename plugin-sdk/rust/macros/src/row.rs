//! `#[derive(Row)]`

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Data, DeriveInput, Field, Fields, LitByteStr, LitStr};

/// Expands to an implementation of `FromRow`.
pub(crate) fn expand(item: &DeriveInput) -> syn::Result<TokenStream> {
    let named = match &item.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(named) => Some(named),
            _ => None,
        },
        _ => None,
    };
    let Some(named) = named else {
        return Err(syn::Error::new_spanned(&item.ident, "a row is a struct with named fields"));
    };
    let columns: Vec<String> = named.named.iter().map(column).collect::<syn::Result<_>>()?;
    let fields = named.named.iter().map(|field| &field.ident);
    let (name, (impl_generics, ty_generics, bounds)) = (&item.ident, item.generics.split_for_impl());
    let note = note(&name.to_string(), &columns);
    Ok(quote! {
        #note
        impl #impl_generics ::rookery_plugin::sql::FromRow for #name #ty_generics #bounds {
            const COLUMNS: &'static [&'static str] = &[#(#columns),*];

            fn from_row(
                values: &mut dyn ::std::iter::Iterator<Item = ::rookery_plugin::sql::Value>,
            ) -> ::rookery_plugin::Result<Self> {
                Ok(Self { #(#fields: ::rookery_plugin::__private::next_column(values, #columns)?),* })
            }
        }
    })
}

/// Tells `rookery plugin check` which columns the row reads: a line `Name:column,column` of the component's custom section
/// `rookery-rows`.
fn note(name: &str, columns: &[String]) -> TokenStream {
    let line = format!("{name}:{}\n", columns.join(","));
    let (length, bytes) = (line.len(), LitByteStr::new(line.as_bytes(), Span::call_site()));
    quote! {
        #[cfg(target_arch = "wasm32")]
        #[allow(unsafe_code, reason = "a section that no code reads")]
        const _: () = {
            #[unsafe(link_section = "rookery-rows")]
            static ROW: [u8; #length] = *#bytes;
        };
    }
}

fn column(field: &Field) -> syn::Result<String> {
    let mut name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("row")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("column") {
                return Err(meta.error("write #[row(column = \"…\")]"));
            }
            name = meta.value()?.parse::<LitStr>()?.value();
            Ok(())
        })?;
    }
    Ok(name.trim_start_matches("r#").to_owned())
}
