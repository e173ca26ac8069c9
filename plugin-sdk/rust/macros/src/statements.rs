//! Generates the module `sql`: a function for each named statement of `sql/queries.sql`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::manifest::Manifest;

/// The annotations of a statement.
struct Statement {
    name: String,
    returns: String,
    /// Type and name.
    params: Vec<(String, String)>,
    /// Whether its text has `{page:…}`.
    pages: bool,
}

/// The paging parameters that `{page:…}` adds, in this order, unless the statement declares them.
const PAGE: [&str; 4] = ["max_id", "since_id", "min_id", "limit"];

/// The module, if the manifest has statements.
pub(crate) fn module(manifest: &Manifest) -> Result<TokenStream, String> {
    let Some(path) = manifest.path("sql", "statements") else { return Ok(quote!()) };
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let statements = read(&text)?;
    let single: Vec<_> = statements.iter().map(function).collect();
    let many = statements.iter().filter(|statement| !statement.params.is_empty() && !statement.pages).map(many);
    Ok(quote! {
        /// The named statements.
        #[allow(dead_code, unused_imports, clippy::too_many_arguments, clippy::type_complexity, reason = "made from queries.sql")]
        pub(crate) mod sql {
            pub(crate) use ::rookery_plugin::sql::*;
            #(#single)*

            /// The same statements, for many rows of parameters; each returns how many rows it changed.
            pub(crate) mod many {
                #(#many)*
            }
        }
    })
}

/// Parses the names and parameters of all statements.
fn read(text: &str) -> Result<Vec<Statement>, String> {
    let mut statements: Vec<Statement> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Some(annotation) = line.trim_start().strip_prefix("--").map(str::trim) else {
            if let Some(statement) = statements.last_mut() {
                statement.pages |= line.contains("{page:");
            }
            continue;
        };
        let at = |what: &str| format!("queries.sql, line {}: {what}", number + 1);
        if let Some(head) = annotation.strip_prefix("name:") {
            let mut words = head.split_whitespace();
            let name = words.next().ok_or_else(|| at("a statement without a name"))?.to_owned();
            if syn::parse_str::<syn::Ident>(&name).is_err() {
                return Err(at(&format!("{name} cannot be the name of a function")));
            }
            let returns = words.skip_while(|word| *word != "returns:").nth(1).unwrap_or_default().to_owned();
            statements.push(Statement { name, returns, params: Vec::new(), pages: false });
        } else if let Some(list) = annotation.strip_prefix("params:") {
            let statement = statements.last_mut().ok_or_else(|| at("parameters before any name"))?;
            for pair in list.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
                let mut words = pair.split_whitespace();
                match (words.next(), words.next(), words.next()) {
                    (Some(kind), Some(name), None) => statement.params.push((kind.to_owned(), name.to_owned())),
                    _ => return Err(at(&format!("{pair:?} is no parameter: write a type and a name"))),
                }
            }
        }
    }
    Ok(statements)
}

impl Statement {
    fn doc(&self) -> String {
        format!("`{}`, which returns: {}", self.name, self.returns)
    }
}

/// The marker type of a declared type, for the trait `Param`.
fn kind(word: &str) -> TokenStream {
    let mut letters = word.chars();
    let first = letters.next().unwrap_or('x').to_ascii_uppercase();
    let name = format_ident!("{}{}", first, letters.as_str());
    quote!(::rookery_plugin::sql::Param<::rookery_plugin::sql::#name>)
}

/// The function of a statement. Its paging parameters come from a single argument, the page.
fn function(statement: &Statement) -> TokenStream {
    let (name, text, doc) = (format_ident!("{}", statement.name), &statement.name, statement.doc());
    let of_page = |name: &str| statement.pages && PAGE.contains(&name);
    let own = || statement.params.iter().filter(|(_, name)| !of_page(name));
    let names: Vec<_> = own().map(|(_, name)| format_ident!("{}_", name)).collect();
    let kinds = own().map(|(word, _)| kind(word));
    let page = statement.pages.then(|| quote!(page_: &::rookery_plugin::sql::Page));
    let declared = statement.params.iter().map(|(_, name)| name.as_str());
    let added = PAGE.into_iter().filter(|name| statement.pages && !declared.clone().any(|own| own == *name));
    let values = declared.clone().chain(added).map(|name| {
        if of_page(name) {
            quote!(::rookery_plugin::__private::page(page_, #name))
        } else {
            let name = format_ident!("{}_", name);
            quote!(::rookery_plugin::sql::Param::value(#name))
        }
    });
    quote! {
        #[doc = #doc]
        pub(crate) fn #name(#(#names: impl #kinds,)* #page) -> Query {
            Query::new(#text, ::std::vec![#(#values),*])
        }
    }
}

fn many(statement: &Statement) -> TokenStream {
    let (name, text, doc) = (format_ident!("{}", statement.name), &statement.name, statement.doc());
    let width = u16::try_from(statement.params.len()).unwrap_or(u16::MAX);
    let types: Vec<_> = (0..statement.params.len()).map(|index| format_ident!("P{}", index)).collect();
    let names: Vec<_> = statement.params.iter().map(|(_, name)| format_ident!("{}_", name)).collect();
    let bounds = statement.params.iter().zip(&types).map(|((word, _), name)| {
        let kind = kind(word);
        quote!(#name: #kind)
    });
    quote! {
        #[doc = #doc]
        pub(crate) fn #name<#(#bounds),*>(
            rows: impl ::std::iter::IntoIterator<Item = (#(#types,)*)>,
        ) -> ::rookery_plugin::Result<u64> {
            let mut params = ::std::vec::Vec::new();
            for (#(#names,)*) in rows {
                #(params.push(::rookery_plugin::sql::Param::value(#names));)*
            }
            ::rookery_plugin::sql::run_many(#text, #width, &params)
        }
    }
}
