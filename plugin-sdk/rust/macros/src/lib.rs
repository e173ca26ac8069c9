//! The attribute and derive macros of `rookery-plugin`. Each attribute is compared with `plugin.toml` as it expands, so
//! that code and manifest cannot diverge.

mod handler;
mod hook;
mod manifest;
mod plugin;
mod route;
mod row;
mod scan;
mod statements;

use proc_macro::TokenStream;
use syn::{DeriveInput, ItemFn, ItemStruct, parse_macro_input};

fn answer(result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    result.unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Expands to the function even on an error, so that the compiler reports its other errors as well.
fn beside(function: &ItemFn, result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    answer(result.or_else(|error| {
        let complaint = error.to_compile_error();
        Ok(quote::quote! { #function #complaint })
    }))
}

/// Marks the struct that represents the plugin, at the root of the crate. Collects the functions that the other
/// attributes mark, in every module, and generates the module `sql` from the named statements.
#[proc_macro_attribute]
pub fn plugin(_: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as ItemStruct);
    answer(plugin::expand(&item))
}

/// `#[route(get, "/api/v1/things/{id}", scopes = ["read:lists"])]`: the handler of a route, whose id is the function's
/// name or `id = "…"`. Arguments: `&Context`, path parameters by name, and `Params<T>`, `Query<T>`, `Json<T>`, `Page`.
#[proc_macro_attribute]
pub fn route(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let attribute = parse_macro_input!(attribute as route::Attribute);
    let function = parse_macro_input!(item as ItemFn);
    beside(&function, route::expand(&attribute, &function))
}

/// `#[on(events, kinds = ["status.created"])]`, `#[on(fanout)]`, `#[on(decorate, kind = "status")]`,
/// `#[on(status_filter)]`, `#[on(sign_up_judge)]` …: the handler of a hook.
#[proc_macro_attribute]
pub fn on(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let attribute = parse_macro_input!(attribute as hook::Attribute);
    let function = parse_macro_input!(item as ItemFn);
    beside(&function, hook::expand(&attribute, &function))
}

/// `#[job("expire")] fn expire(task: &Task) -> Result<()>`: runs a queued or scheduled job. May return an `Outcome`.
#[proc_macro_attribute]
pub fn job(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let kind = parse_macro_input!(attribute as syn::LitStr);
    let function = parse_macro_input!(item as ItemFn);
    beside(&function, handler::job(&kind, &function))
}

/// `#[command("rebuild")] fn rebuild(ctx: &Context, args: Args) -> Result<impl Serialize>`: a command for the admin.
#[proc_macro_attribute]
pub fn command(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let name = parse_macro_input!(attribute as syn::LitStr);
    let function = parse_macro_input!(item as ItemFn);
    beside(&function, handler::command(&name, &function))
}

/// `#[page("notes")] fn notes(ctx: &Context, request: &pages::Request) -> Result<pages::View>`: the content of a page.
#[proc_macro_attribute]
pub fn page(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let page = parse_macro_input!(attribute as syn::LitStr);
    let function = parse_macro_input!(item as ItemFn);
    beside(&function, handler::page(&page, &function, false))
}

/// `#[submit("notes")] fn sent(ctx: &Context, request: &pages::Request, submission: &pages::Submission) ->
/// Result<pages::Outcome>`: handles the forms and buttons of a page.
#[proc_macro_attribute]
pub fn submit(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let page = parse_macro_input!(attribute as syn::LitStr);
    let function = parse_macro_input!(item as ItemFn);
    beside(&function, handler::page(&page, &function, true))
}

/// `#[init] fn init(env: &Environment) -> Result<()>`: runs first in each new instance.
#[proc_macro_attribute]
pub fn init(_: TokenStream, item: TokenStream) -> TokenStream {
    let function = parse_macro_input!(item as ItemFn);
    beside(&function, Ok(handler::init(&function)))
}

/// `#[self_test] fn self_test() -> Result<()>`: runs on a candidate before it is accepted, in a transaction that is
/// rolled back.
#[proc_macro_attribute]
pub fn self_test(_: TokenStream, item: TokenStream) -> TokenStream {
    let function = parse_macro_input!(item as ItemFn);
    beside(&function, Ok(handler::self_test(&function)))
}

/// Implements `FromRow`: columns are read by the names of the fields, or `#[row(column = "…")]`.
#[proc_macro_derive(Row, attributes(row))]
pub fn row(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    answer(row::expand(&item))
}
