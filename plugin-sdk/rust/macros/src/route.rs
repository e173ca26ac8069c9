//! `#[route]`, the attribute of routes.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, ItemFn, LitStr, Token, bracketed};

use crate::handler::{arguments, is_context};
use crate::manifest::{Manifest, Route, toml_list};

/// The arguments of the attribute.
pub(crate) struct Attribute {
    methods: Vec<String>,
    path: LitStr,
    scopes: Vec<String>,
    id: Option<LitStr>,
}

impl Parse for Attribute {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let methods: Vec<Ident> = if input.peek(syn::token::Bracket) {
            let content;
            bracketed!(content in input);
            Punctuated::<Ident, Token![,]>::parse_terminated(&content)?.into_iter().collect()
        } else {
            vec![input.parse()?]
        };
        input.parse::<Token![,]>()?;
        let path = input.parse()?;
        let methods = methods.iter().map(|method| method.to_string().to_ascii_uppercase()).collect();
        let mut attribute = Self { methods, path, scopes: Vec::new(), id: None };
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let key: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            match key.to_string().as_str() {
                "scopes" => attribute.scopes = texts(input)?,
                "id" => attribute.id = Some(input.parse()?),
                _ => return Err(syn::Error::new(key.span(), "a route has scopes = [\"…\"] and id = \"…\"")),
            }
        }
        Ok(attribute)
    }
}

/// Parses a list of strings: `["a", "b"]`.
pub(crate) fn texts(input: ParseStream<'_>) -> syn::Result<Vec<String>> {
    let content;
    bracketed!(content in input);
    Ok(Punctuated::<LitStr, Token![,]>::parse_terminated(&content)?.iter().map(LitStr::value).collect())
}

impl Attribute {
    /// The route's id: the id in the attribute, or the function's name.
    pub(crate) fn id(&self, function: &ItemFn) -> String {
        self.id.as_ref().map_or_else(|| function.sig.ident.to_string(), LitStr::value)
    }

    fn toml(&self, id: &str) -> String {
        let method = if let [one] = self.methods.as_slice() { format!("{one:?}") } else { toml_list(&self.methods) };
        let auth = if self.scopes.is_empty() { "none" } else { "user" };
        let path = self.path.value();
        let scopes = toml_list(&self.scopes);
        format!("[[route]]\nid = {id:?}\nmethod = {method}\npath = {path:?}\nauth = {auth:?}\nscopes = {scopes}")
    }

    fn check(&self, id: &str) -> Result<(), String> {
        let manifest = Manifest::read()?;
        let routes = manifest.routes();
        let Some(route) = routes.iter().find(|route| route.id == id) else {
            return Err(format!("plugin.toml has no route {id:?}. Add:\n\n{}\n", self.toml(id)));
        };
        match self.difference(route) {
            None => Ok(()),
            Some(what) => {
                Err(format!("plugin.toml has another {what} for the route {id:?}. Write:\n\n{}\n", self.toml(id)))
            }
        }
    }

    fn difference(&self, route: &Route) -> Option<&'static str> {
        let sorted = |list: &[String]| {
            let mut list = list.to_vec();
            list.sort();
            list
        };
        if sorted(&self.methods) != sorted(&route.methods) {
            Some("method")
        } else if self.path.value() != route.path {
            Some("path")
        } else if sorted(&self.scopes) != sorted(&route.scopes) {
            Some("list of scopes")
        } else {
            None
        }
    }
}

/// Expands to the function and a wrapper that parses its arguments from a request.
pub(crate) fn expand(attribute: &Attribute, function: &ItemFn) -> syn::Result<TokenStream> {
    let id = attribute.id(function);
    attribute.check(&id).map_err(|text| syn::Error::new(attribute.path.span(), text))?;
    let name = &function.sig.ident;
    let wrapper = format_ident!("__rookery_route_{}", name);
    let path = attribute.path.value();
    let mut given = Vec::new();
    for (pattern, ty) in arguments(function)? {
        given.push(match pattern {
            _ if is_context(ty) => quote!(&ctx),
            Some(ident) if path.contains(&format!("{{{ident}}}")) => {
                let ident = ident.to_string();
                quote!(::rookery_plugin::__private::param(request, #ident)?)
            }
            _ => quote!(::rookery_plugin::__private::FromRequest::from_request(request)?),
        });
    }
    Ok(quote! {
        #function
        #[doc(hidden)]
        pub(crate) fn #wrapper(
            request: ::rookery_plugin::contract::routes::Request,
        ) -> ::rookery_plugin::Result<::rookery_plugin::Output> {
            let ctx = ::rookery_plugin::Context::of(request);
            let Some(request) = ctx.request() else { return Err(::rookery_plugin::Error::NotFound) };
            let _ = request;
            ::rookery_plugin::__private::Reply::reply(#name(#(#given),*)?)
        }
    })
}
