//! The attribute [`use_case`](super::use_case()): adds a tracing span to an `async fn` of `service`.
//!
//! The span is created at the first poll, at the level DEBUG under the target `rookery::use_case`, which is off by
//! default: then a call costs one relaxed atomic load. It is named after the function's path and has no fields, so
//! that it cannot contain data of a request.
//!
//! The function is [`boxed`](super::boxed()) too, unless it is generic over types, a method or a job.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Error, FnArg, GenericParam, ItemFn, Type, parse_quote};

pub(super) fn use_case(mut item: ItemFn) -> Result<TokenStream, Error> {
    if item.sig.asyncness.is_none() {
        return Err(Error::new_spanned(item.sig.fn_token, "only an async fn is a use case"));
    }
    let (name, body) = (format!("::{}", item.sig.ident), &item.block);
    // An inner future instead of `tracing::instrument`, whose two branches make the future twice as large.
    item.block = parse_quote!({
        const NAME: &str = ::model::span::name(concat!(module_path!(), #name));
        let span = ::tracing::debug_span!(target: "rookery::use_case", NAME);
        ::tracing::Instrument::instrument(async move #body, span).await
    });
    let is_generic = item.sig.generics.params.iter().any(|one| !matches!(one, GenericParam::Lifetime(_)));
    let is_left = |argument: &FnArg| match argument {
        FnArg::Receiver(_) => true,
        FnArg::Typed(argument) => matches!(argument.ty.as_ref(), Type::ImplTrait(_)),
    };
    // Both read the `async fn` themselves.
    let is_read = |attribute: &Attribute| {
        attribute.path().segments.last().is_some_and(|last| last.ident == "boxed" || last.ident == "job")
    };
    if is_generic || item.sig.inputs.iter().any(is_left) || item.attrs.iter().any(is_read) {
        return Ok(quote!(#item));
    }
    super::boxed::boxed(item)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_and_other_attributes_stay() {
        let item: ItemFn =
            syn::parse_str("#[boxed] pub async fn find(cx: &Cx) -> Result<u8> { Ok(1) }").expect("a function");
        let made: ItemFn = syn::parse2(use_case(item.clone()).expect("made")).expect("a function again");
        assert_eq!((&made.sig, &made.attrs), (&item.sig, &item.attrs));
        assert!(quote!(#made).to_string().contains("\"::find\""));
    }

    #[test]
    fn function_is_boxed_unless_it_is_generic_a_method_or_a_job() {
        let made = |text: &str| use_case(syn::parse_str(text).expect("a function")).expect("made").to_string();
        assert!(made("async fn f(cx: &Cx) {}").contains("Pin"));
        for text in ["async fn f<T>(t: T) {}", "async fn f(t: impl T) {}", "#[job] async fn f(cx: &Cx) {}"] {
            assert!(!made(text).contains("Pin"), "{text}");
        }
    }

    #[test]
    fn function_that_is_not_async_is_refused() {
        let item: ItemFn = syn::parse_str("fn find() {}").expect("a function");
        assert!(use_case(item).expect_err("refused").to_string().contains("async"));
    }
}
