//! `#[job]`, `#[command]`, `#[page]`, `#[submit]`, `#[init]` and `#[self_test]`, and helpers that all attributes share.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{FnArg, Ident, ItemFn, LitStr, Pat, Type};

use crate::manifest::Manifest;

/// The arguments of a function: type, and name unless it is a pattern.
pub(crate) fn arguments(function: &ItemFn) -> syn::Result<Vec<(Option<&Ident>, &Type)>> {
    let inputs = function.sig.inputs.iter();
    inputs
        .map(|input| match input {
            FnArg::Receiver(receiver) => {
                Err(syn::Error::new_spanned(receiver, "a plugin's functions stand alone: there is no self"))
            }
            FnArg::Typed(typed) => {
                let name = if let Pat::Ident(pattern) = &*typed.pat { Some(&pattern.ident) } else { None };
                Ok((name, &*typed.ty))
            }
        })
        .collect()
}

/// Whether this is `&Context`.
pub(crate) fn is_context(ty: &Type) -> bool {
    let Type::Reference(reference) = ty else { return false };
    let Type::Path(path) = &*reference.elem else { return false };
    path.path.segments.last().is_some_and(|segment| segment.ident == "Context")
}

/// `#[job]`
pub(crate) fn job(kind: &LitStr, function: &ItemFn) -> syn::Result<TokenStream> {
    let manifest = Manifest::read().map_err(|text| syn::Error::new(kind.span(), text))?;
    if !manifest.jobs().contains(&kind.value()) {
        let kind_name = kind.value();
        let text = format!("plugin.toml has no job {kind_name:?}. Add:\n\n[[job]]\nkind = {kind_name:?}\n");
        return Err(syn::Error::new(kind.span(), text));
    }
    let name = &function.sig.ident;
    let wrapper = format_ident!("__rookery_job_{}", name);
    let task = if function.sig.inputs.is_empty() { quote!() } else { quote!(task) };
    Ok(quote! {
        #function
        #[doc(hidden)]
        pub(crate) fn #wrapper(
            task: &::rookery_plugin::contract::jobs::Task,
        ) -> ::rookery_plugin::Result<::rookery_plugin::contract::jobs::Outcome> {
            let _ = task;
            Ok(::rookery_plugin::IntoOutcome::into_outcome(#name(#task)?))
        }
    })
}

/// `#[command]`
pub(crate) fn command(command: &LitStr, function: &ItemFn) -> syn::Result<TokenStream> {
    let manifest = Manifest::read().map_err(|text| syn::Error::new(command.span(), text))?;
    if !manifest.commands().contains(&command.value()) {
        let shown = command.value();
        let text = format!(
            "plugin.toml has no command {shown:?}. Add:\n\n[[command]]\nname = {shown:?}\ndescription = \"…\"\n"
        );
        return Err(syn::Error::new(command.span(), text));
    }
    let name = &function.sig.ident;
    let wrapper = format_ident!("__rookery_command_{}", name);
    let given = arguments(function)?
        .into_iter()
        .map(|(_, ty)| if is_context(ty) { quote!(ctx) } else { quote!(::rookery_plugin::__private::args(args)?) });
    Ok(quote! {
        #function
        #[doc(hidden)]
        pub(crate) fn #wrapper(
            ctx: &::rookery_plugin::Context,
            args: &str,
        ) -> ::rookery_plugin::Result<::std::string::String> {
            let _ = (ctx, args);
            Ok(::rookery_plugin::__private::serde_json::to_string(&#name(#(#given),*)?)?)
        }
    })
}

/// `#[page]` and, with `sends`, `#[submit]`
pub(crate) fn page(page: &LitStr, function: &ItemFn, sends: bool) -> syn::Result<TokenStream> {
    let manifest = Manifest::read().map_err(|text| syn::Error::new(page.span(), text))?;
    if !manifest.pages().contains(&page.value()) {
        let shown = page.value();
        let text = format!(
            "plugin.toml has no page {shown:?}. Add:\n\n[[page]]\nid = {shown:?}\npath = \"/…\"\ntitle = \"…\"\n"
        );
        return Err(syn::Error::new(page.span(), text));
    }
    let name = &function.sig.ident;
    let pages = quote!(::rookery_plugin::pages);
    let (wrapper, more, given, gives) = if sends {
        let more = quote!(, submission: &#pages::Submission);
        (format_ident!("__rookery_submit_{}", name), more, quote!(, submission), quote!(#pages::Outcome))
    } else {
        (format_ident!("__rookery_page_{}", name), quote!(), quote!(), quote!(#pages::View))
    };
    Ok(quote! {
        #function
        #[doc(hidden)]
        pub(crate) fn #wrapper(
            ctx: &::rookery_plugin::Context,
            request: &#pages::Request
            #more
        ) -> ::rookery_plugin::Result<#gives> {
            #name(ctx, request #given)
        }
    })
}

/// `#[init]`
pub(crate) fn init(function: &ItemFn) -> TokenStream {
    let name = &function.sig.ident;
    let environment = if function.sig.inputs.is_empty() { quote!() } else { quote!(environment) };
    quote! {
        #function
        #[doc(hidden)]
        pub(crate) fn __rookery_init(
            environment: &::rookery_plugin::contract::lifecycle::Environment,
        ) -> ::std::result::Result<(), ::std::string::String> {
            let _ = environment;
            #name(#environment).map_err(|error| ::std::string::ToString::to_string(&error))
        }
    }
}

/// `#[self_test]`
pub(crate) fn self_test(function: &ItemFn) -> TokenStream {
    let name = &function.sig.ident;
    quote! {
        #function
        #[doc(hidden)]
        pub(crate) fn __rookery_self_test() -> ::std::result::Result<(), ::std::string::String> {
            #name().map_err(|error| ::std::string::ToString::to_string(&error))
        }
    }
}
