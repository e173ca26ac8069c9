//! `#[on]`, the attribute of hooks.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Ident, ItemFn, LitStr, Token};

use crate::manifest::{Manifest, toml_list};
use crate::route::texts;

/// The arguments of the attribute.
pub(crate) struct Attribute {
    moment: Ident,
    pub(crate) kinds: Vec<String>,
}

impl Parse for Attribute {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut attribute = Self { moment: input.parse()?, kinds: Vec::new() };
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let key: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            match key.to_string().as_str() {
                "kinds" => attribute.kinds = texts(input)?,
                "kind" => attribute.kinds = vec![input.parse::<LitStr>()?.value()],
                _ => return Err(syn::Error::new(key.span(), "a hook has kinds = [\"…\"] or kind = \"…\"")),
            }
        }
        Ok(attribute)
    }
}

/// The signature of a hook's function: the wrapper's parameters, the arguments that it passes on, and the return type.
struct Shape {
    arguments: TokenStream,
    given: TokenStream,
    gives: TokenStream,
}

fn shape(moment: &str) -> Option<Shape> {
    let contract = quote!(::rookery_plugin::contract);
    let batch = |item: TokenStream, gives: TokenStream| Shape {
        arguments: quote!(batch: &[#item]),
        given: quote!(batch),
        gives,
    };
    Some(match moment {
        "events" => batch(quote!(#contract::events::Event), quote!(())),
        "fanout" => batch(quote!(#contract::types::Status), quote!(::std::vec::Vec<#contract::feeds::Entry>)),
        "notification_filter" => batch(quote!(#contract::notification_filter::Draft), quote!(::std::vec::Vec<u8>)),
        "activity_inbound" | "activity_outbound" => batch(
            quote!(#contract::activity_filter::Envelope),
            quote!(::std::vec::Vec<#contract::activity_filter::Verdict>),
        ),
        "activity_handler" => batch(
            quote!(#contract::activity_handler::Incoming),
            quote!(::std::vec::Vec<::std::result::Result<(), #contract::types::Failure>>),
        ),
        "decorate" => Shape {
            arguments: quote!(viewer: ::std::option::Option<::rookery_plugin::Id>, targets: &[#contract::decorate::Target]),
            given: quote!(viewer, targets),
            gives: quote!(::rookery_plugin::Extras),
        },
        "status_filter" => Shape {
            arguments: quote!(ctx: &::rookery_plugin::Context, draft: &#contract::status_filter::Draft),
            given: quote!(ctx, draft),
            gives: quote!(#contract::status_filter::Verdict),
        },
        "sign_up_judge" => Shape {
            arguments: quote!(ctx: &::rookery_plugin::Context, sign_up: &::rookery_plugin::SignUp),
            given: quote!(ctx, sign_up),
            gives: quote!(::std::option::Option<#contract::sign_up::Admission>),
        },
        "sign_up_claim" => Shape {
            arguments: quote!(ctx: &::rookery_plugin::Context, sign_up: &::rookery_plugin::SignUp, account: ::rookery_plugin::Id),
            given: quote!(ctx, sign_up, account),
            gives: quote!(::std::option::Option<#contract::sign_up::Admission>),
        },
        "channels" => Shape {
            arguments: quote!(ctx: &::rookery_plugin::Context, channel: &str, params: &[(::std::string::String, ::std::string::String)]),
            given: quote!(ctx, channel, params),
            gives: quote!(::std::vec::Vec<::std::string::String>),
        },
        "instance_info" => Shape {
            arguments: quote!(document: &str),
            given: quote!(document),
            gives: quote!(#contract::types::Fields),
        },
        _ => return None,
    })
}

/// The hook's name in the manifest.
pub(crate) fn manifest_moment(moment: &str) -> String {
    match moment {
        "activity_inbound" | "activity_outbound" => "activity-filter".to_owned(),
        "sign_up_judge" | "sign_up_claim" => "sign-up".to_owned(),
        other => other.replace('_', "-"),
    }
}

impl Attribute {
    pub(crate) fn moment(&self) -> String {
        self.moment.to_string()
    }

    fn check(&self) -> Result<(), String> {
        let moment = self.moment();
        if moment == "instance_info" {
            return Ok(());
        }
        let on = manifest_moment(&moment);
        let kinds = if self.kinds.is_empty() { String::new() } else { format!("\nkinds = {}", toml_list(&self.kinds)) };
        let add = format!("[[hook]]\non = {on:?}{kinds}\n");
        let hooks = Manifest::read()?.hooks();
        let mut hooks = hooks.iter().filter(|hook| hook.on == on).peekable();
        if hooks.peek().is_none() {
            return Err(format!("plugin.toml has no hook {on:?}. Add:\n\n{add}"));
        }
        let declared: Vec<&String> = hooks.flat_map(|hook| &hook.kinds).collect();
        match self.kinds.iter().find(|kind| !declared.contains(kind)) {
            Some(kind) => Err(format!("plugin.toml's hook {on:?} has no kind {kind:?}. Write:\n\n{add}")),
            None => Ok(()),
        }
    }
}

/// Expands to the function and the wrapper that the plugin's implementation calls.
pub(crate) fn expand(attribute: &Attribute, function: &ItemFn) -> syn::Result<TokenStream> {
    let moment = attribute.moment();
    let Some(Shape { arguments, given, gives }) = shape(&moment) else {
        return Err(syn::Error::new(
            attribute.moment.span(),
            "there are events, fanout, decorate, status_filter, sign_up_judge, sign_up_claim, notification_filter, activity_inbound, \
             activity_outbound, activity_handler, channels and instance_info",
        ));
    };
    attribute.check().map_err(|text| syn::Error::new(attribute.moment.span(), text))?;
    let name = &function.sig.ident;
    let wrapper = format_ident!("__rookery_{}_{}", attribute.moment, name);
    Ok(quote! {
        #function
        #[doc(hidden)]
        pub(crate) fn #wrapper(#arguments) -> ::rookery_plugin::Result<#gives> {
            #name(#given)
        }
    })
}
