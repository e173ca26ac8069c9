//! The attribute [`boxed`](super::boxed()): turns an `async fn` into a function that returns a boxed future.
//!
//! Elided lifetimes of arguments, `'_` or without a name, become one lifetime that the future has too. Functions that
//! are generic over types are rejected: they are compiled where they are used, boxed or not. The exception is an
//! argument of the type `Conn`: callers pass what converts to it, and the conversion alone is generic.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Error, Expr, FnArg, GenericParam, Ident, ItemFn, Lifetime, Pat, ReturnType, Type, TypeReference, Visibility,
    parse_quote,
};

pub(super) fn boxed(mut item: ItemFn) -> Result<TokenStream, Error> {
    let signature = &mut item.sig;
    if signature.asyncness.take().is_none() {
        return Err(Error::new_spanned(signature.fn_token, "only an async fn can be boxed"));
    }
    if let Some(generic) = signature.generics.params.iter().find(|one| !matches!(one, GenericParam::Lifetime(_))) {
        return Err(Error::new_spanned(generic, "generic code is compiled where it is used, boxed or not"));
    }
    let mut named = Named { lifetime: Lifetime::new("'boxed", Span::call_site()) };
    let mut connects = false;
    for argument in &mut signature.inputs {
        match argument {
            FnArg::Typed(argument) => {
                if let Type::ImplTrait(of) = argument.ty.as_ref() {
                    return Err(Error::new_spanned(of, "generic code is compiled where it is used, boxed or not"));
                }
                named.visit_type_mut(&mut argument.ty);
                connects |= is_connection(&argument.ty);
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
    if connects {
        convert_connections(&mut item);
    }
    Ok(quote!(#item))
}

/// True for `Conn<'_>` of the crate `database`, by whatever path.
fn is_connection(of: &Type) -> bool {
    matches!(of, Type::Path(of) if of.path.segments.last().is_some_and(|last| last.ident == "Conn"))
}

/// Makes `item` convert its connections and call the function that it was, which is compiled once.
fn convert_connections(item: &mut ItemFn) {
    let attrs = item.attrs.iter().filter(|one| one.path().is_ident("expect")).cloned().collect();
    let mut inner = ItemFn { attrs, vis: Visibility::Inherited, ..item.clone() };
    inner.sig.ident = Ident::new("compiled_once", Span::call_site());
    item.attrs.retain(|one| !one.path().is_ident("expect"));
    let mut passed: Vec<Expr> = Vec::new();
    for (place, argument) in item.sig.inputs.iter_mut().enumerate() {
        let FnArg::Typed(argument) = argument else { continue };
        let name = match argument.pat.as_ref() {
            Pat::Ident(pattern) => pattern.ident.clone(),
            _ => Ident::new(&format!("argument_{place}"), Span::call_site()),
        };
        let of = argument.ty.as_ref();
        if is_connection(of) {
            argument.ty = parse_quote!(impl ::std::convert::Into<#of>);
            passed.push(parse_quote!(::std::convert::Into::into(#name)));
        } else {
            passed.push(parse_quote!(#name));
        }
        argument.pat = parse_quote!(#name);
    }
    item.block = parse_quote!({
        #inner
        compiled_once(#(#passed),*)
    });
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
    fn callers_pass_what_converts_to_a_connection() {
        let made = signature("pub async fn find(mut db: Conn<'_>, ids: &[Id]) -> Result<()> {}").expect("made");
        let wanted = "fn find<'boxed>(db: impl ::std::convert::Into<Conn<'boxed>>, ids: &'boxed [Id])";
        assert!(made.replace(' ', "").starts_with(&wanted.replace(' ', "")), "{made}");
    }

    #[test]
    fn generic_or_sync_function_is_refused() {
        for text in ["async fn f<T>(t: T) {}", "async fn f(t: impl Display) {}"] {
            assert!(signature(text).expect_err("refused").contains("generic"), "{text}");
        }
        assert!(signature("fn f() {}").expect_err("refused").contains("async"));
    }
}
