//! The attribute [`boxed`](super::boxed()): turns an `async fn` into a function that returns a boxed future.
//!
//! Elided lifetimes of arguments, `'_` or without a name, become one lifetime that the future has too. Functions that
//! are generic over types are rejected: they are compiled where they are used, boxed or not.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::visit_mut::{self, VisitMut};
use syn::{Error, FnArg, GenericParam, ItemFn, Lifetime, ReturnType, TypeReference, parse_quote};

pub(super) fn boxed(mut item: ItemFn) -> Result<TokenStream, Error> {
    let signature = &mut item.sig;
    if signature.asyncness.take().is_none() {
        return Err(Error::new_spanned(signature.fn_token, "only an async fn can be boxed"));
    }
    if let Some(generic) = signature.generics.params.iter().find(|one| !matches!(one, GenericParam::Lifetime(_))) {
        return Err(Error::new_spanned(generic, "generic code is compiled where it is used, boxed or not"));
    }
    let mut named = Named { lifetime: Lifetime::new("'boxed", Span::call_site()) };
    for argument in &mut signature.inputs {
        match argument {
            FnArg::Typed(argument) => {
                if let syn::Type::ImplTrait(of) = argument.ty.as_ref() {
                    return Err(Error::new_spanned(of, "generic code is compiled where it is used, boxed or not"));
                }
                named.visit_type_mut(&mut argument.ty);
            }
            FnArg::Receiver(receiver) => return Err(Error::new_spanned(receiver, "methods are not supported")),
        }
    }
    let lifetime = named.lifetime;
    signature.generics.params.iter_mut().for_each(|one| {
        if let GenericParam::Lifetime(one) = one {
            // They outlive the future, which borrows from all of them.
            one.bounds.push(lifetime.clone());
        }
    });
    signature.generics.params.insert(0, parse_quote!(#lifetime));
    let output = match &signature.output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, output) => quote!(#output),
    };
    signature.output = parse_quote! {
        -> ::std::pin::Pin<::std::boxed::Box<dyn ::std::future::Future<Output = #output> + ::std::marker::Send + #lifetime>>
    };
    let body = &item.block;
    item.block = parse_quote!({ ::std::boxed::Box::pin(async move #body) });
    Ok(quote!(#item))
}

/// Names the elided lifetimes of a type.
struct Named {
    lifetime: Lifetime,
}

impl VisitMut for Named {
    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        reference.lifetime.get_or_insert_with(|| self.lifetime.clone());
        visit_mut::visit_type_reference_mut(self, reference);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = self.lifetime.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(text: &str) -> Result<String, String> {
        let item: ItemFn = syn::parse_str(text).expect("a function");
        let made = boxed(item).map_err(|error| error.to_string())?;
        let item: ItemFn = syn::parse2(made).expect("a function again");
        let signature = item.sig;
        Ok(quote!(#signature).to_string())
    }

    #[test]
    fn elided_lifetimes_become_the_lifetime_of_the_future() {
        let made = signature("async fn f<'a>(cx: &Cx, tx: &mut Tx, of: Source<'_>, own: &'a [u8]) -> Result<()> {}");
        let wanted = "fn f < 'boxed , 'a : 'boxed > (cx : & 'boxed Cx , tx : & 'boxed mut Tx , of : Source < 'boxed > , \
                      own : & 'a [u8]) -> :: std :: pin :: Pin < :: std :: boxed :: Box < dyn :: std :: future :: Future < \
                      Output = Result < () >> + :: std :: marker :: Send + 'boxed >>";
        assert_eq!(made.expect("made").replace(' ', ""), wanted.replace(' ', ""));
    }

    #[test]
    fn generic_or_sync_function_is_refused() {
        for text in ["async fn f<T>(t: T) {}", "async fn f(t: impl Executor) {}"] {
            assert!(signature(text).expect_err("refused").contains("generic"), "{text}");
        }
        assert!(signature("fn f() {}").expect_err("refused").contains("async"));
    }
}
