//! `#[plugin]`: generates the implementation of `Plugin` from the functions that `scan` found.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ItemStruct;

use crate::hook::manifest_moment;
use crate::manifest::Manifest;
use crate::scan::{self, Found, Role};
use crate::statements;

/// Expands to the struct, its implementation of `Plugin`, its exports and the module `sql`.
pub(crate) fn expand(item: &ItemStruct) -> syn::Result<TokenStream> {
    let wrong = |text: String| syn::Error::new_spanned(&item.ident, text);
    let manifest = Manifest::read().map_err(wrong)?;
    let found = scan::crate_at(&manifest.folder).map_err(wrong)?;
    let package = package(&manifest).map_err(wrong)?;
    let sql = statements::module(&manifest).map_err(wrong)?;
    let complaints = missing(&manifest, &found).into_iter().map(|text| wrong(text).to_compile_error());
    let methods = [routes(&found), hooks(&found), pages(&found), jobs(&found), commands(&found), lifecycle(&found)];
    let interfaces = interfaces(&found);
    let name = &item.ident;
    Ok(quote! {
        #item
        #sql
        #(#complaints)*
        impl ::rookery_plugin::Plugin for #name {
            const PACKAGE: ::rookery_plugin::Package = #package;
            #(#methods)*
        }
        ::rookery_plugin::export!(#name: #(#interfaces),*);
        /// A fake server with this plugin. Keeps its functions in use in native builds, where nothing else calls them.
        #[cfg(not(target_arch = "wasm32"))]
        #[doc(hidden)]
        pub fn __rookery_fake() -> ::rookery_plugin::test::Fake {
            ::rookery_plugin::test::Fake::new::<#name>()
        }
    })
}

/// The path of the wrapper that an attribute generated.
fn path(found: &Found, prefix: &str) -> TokenStream {
    let modules = found.module.iter().map(|module| format_ident!("{}", module));
    let name = format_ident!("__rookery_{}{}", prefix, found.name);
    quote!(crate::#(#modules::)*#name)
}

fn package(manifest: &Manifest) -> Result<TokenStream, String> {
    let include = |path: Option<std::path::PathBuf>| match path.map(|path| path.display().to_string()) {
        Some(path) => quote!(include_str!(#path)),
        None => quote!(""),
    };
    let toml = include(Some(manifest.folder.join("plugin.toml")));
    let statements = include(manifest.path("sql", "statements"));
    let (config, settings) = (include(manifest.path("config", "schema")), include(manifest.path("settings", "schema")));
    let migrations = manifest.migrations()?.into_iter().map(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = include(Some(file));
        quote!((#name, #text))
    });
    Ok(quote! {
        ::rookery_plugin::Package {
            manifest: #toml,
            statements: #statements,
            migrations: &[#(#migrations),*],
            schemas: (#config, #settings),
        }
    })
}

fn routes(found: &[Found]) -> TokenStream {
    let arms: Vec<_> = found
        .iter()
        .filter_map(|found| {
            let Role::Route(id) = &found.role else { return None };
            let path = path(found, "route_");
            Some(quote!(#id => #path(request)))
        })
        .collect();
    if arms.is_empty() {
        return quote!();
    }
    quote! {
        fn route(request: ::rookery_plugin::contract::routes::Request) -> ::rookery_plugin::Result<::rookery_plugin::Output> {
            match request.route.as_str() {
                #(#arms,)*
                _ => Err(::rookery_plugin::Error::NotFound),
            }
        }
    }
}

/// The functions of one hook, with their kinds.
fn of_moment<'a>(found: &'a [Found], wanted: &str) -> Vec<(&'a Found, &'a [String])> {
    found
        .iter()
        .filter_map(|found| match &found.role {
            Role::Hook(moment, kinds) if moment == wanted => Some((found, kinds.as_slice())),
            _ => None,
        })
        .collect()
}

fn hooks(found: &[Found]) -> TokenStream {
    let contract = quote!(::rookery_plugin::contract);
    let result = quote!(::rookery_plugin::Result);
    let one = |moment: &str, signature: TokenStream, given: TokenStream| {
        of_moment(found, moment).first().map(|(function, _)| {
            let path = path(function, &format!("{moment}_"));
            quote!(#signature { #path(#given) })
        })
    };
    let batch = |moment: &str, item: TokenStream, gives: TokenStream| {
        let name = format_ident!("{}", moment);
        one(moment, quote!(fn #name(batch: &[#item]) -> #result<#gives>), quote!(batch))
    };
    let envelope = quote!(#contract::activity_filter::Envelope);
    let verdicts = quote!(::std::vec::Vec<#contract::activity_filter::Verdict>);
    let singles = [
        batch("fanout", quote!(#contract::types::Status), quote!(::std::vec::Vec<#contract::feeds::Entry>)),
        batch("notification_filter", quote!(#contract::notification_filter::Draft), quote!(::std::vec::Vec<u8>)),
        batch("activity_inbound", envelope.clone(), verdicts.clone()),
        batch("activity_outbound", envelope, verdicts),
        batch(
            "activity_handler",
            quote!(#contract::activity_handler::Incoming),
            quote!(::std::vec::Vec<::std::result::Result<(), #contract::types::Failure>>),
        ),
        one(
            "status_filter",
            quote!(fn status_filter(ctx: &::rookery_plugin::Context, draft: &#contract::status_filter::Draft) -> #result<#contract::status_filter::Verdict>),
            quote!(ctx, draft),
        ),
        one(
            "sign_up_judge",
            quote!(fn sign_up_judge(ctx: &::rookery_plugin::Context, sign_up: &::rookery_plugin::SignUp) -> #result<::std::option::Option<#contract::sign_up::Admission>>),
            quote!(ctx, sign_up),
        ),
        one(
            "sign_up_claim",
            quote!(fn sign_up_claim(ctx: &::rookery_plugin::Context, sign_up: &::rookery_plugin::SignUp, account: ::rookery_plugin::Id) -> #result<::std::option::Option<#contract::sign_up::Admission>>),
            quote!(ctx, sign_up, account),
        ),
        one(
            "channels",
            quote!(fn channels(ctx: &::rookery_plugin::Context, channel: &str, params: &[(::std::string::String, ::std::string::String)]) -> #result<::std::vec::Vec<::std::string::String>>),
            quote!(ctx, channel, params),
        ),
        one(
            "instance_info",
            quote!(fn instance_info(document: &str) -> #result<#contract::types::Fields>),
            quote!(document),
        ),
    ];
    let (events, decorate) = (events(found), decorate(found));
    quote!(#(#singles)* #events #decorate)
}

/// Dispatches events by kind, in order; a function without kinds gets all of them.
fn events(found: &[Found]) -> Option<TokenStream> {
    let functions = of_moment(found, "events");
    let alone = functions.len() == 1;
    let calls: Vec<_> = functions
        .iter()
        .map(|(function, kinds)| {
            let path = path(function, "events_");
            if alone || kinds.is_empty() {
                return quote!(#path(batch)?;);
            }
            quote! {
                let own: ::std::vec::Vec<_> =
                    batch.iter().filter(|event| matches!(event.kind.as_str(), #(#kinds)|*)).cloned().collect();
                if !own.is_empty() {
                    #path(&own)?;
                }
            }
        })
        .collect();
    (!calls.is_empty()).then(|| {
        quote! {
            fn events(batch: &[::rookery_plugin::contract::events::Event]) -> ::rookery_plugin::Result<()> {
                #(#calls)*
                Ok(())
            }
        }
    })
}

fn decorate(found: &[Found]) -> Option<TokenStream> {
    let arms: Vec<_> = of_moment(found, "decorate")
        .iter()
        .map(|(function, kinds)| {
            let path = path(function, "decorate_");
            let pattern = if kinds.is_empty() { quote!(_) } else { quote!(#(#kinds)|*) };
            quote!(#pattern => #path(viewer, targets))
        })
        .collect();
    (!arms.is_empty()).then(|| {
        quote! {
            fn decorate(
                viewer: ::std::option::Option<::rookery_plugin::Id>,
                kind: &str,
                targets: &[::rookery_plugin::contract::decorate::Target],
            ) -> ::rookery_plugin::Result<::rookery_plugin::Extras> {
                #[allow(unreachable_patterns, reason = "a function may be for every kind")]
                match kind {
                    #(#arms,)*
                    _ => Ok(::rookery_plugin::Extras::new()),
                }
            }
        }
    })
}

/// Dispatches pages and their submissions by the page.
fn pages(found: &[Found]) -> TokenStream {
    let request = quote!(ctx: &::rookery_plugin::Context, request: &::rookery_plugin::pages::Request);
    let shown = found.iter().filter_map(|found| {
        let Role::Page(id) = &found.role else { return None };
        let path = path(found, "page_");
        Some(quote!(#id => #path(ctx, request)))
    });
    let sent = found.iter().filter_map(|found| {
        let Role::Submit(id) = &found.role else { return None };
        let path = path(found, "submit_");
        Some(quote!(#id => #path(ctx, request, submission)))
    });
    let (shown, sent): (Vec<_>, Vec<_>) = (shown.collect(), sent.collect());
    if shown.is_empty() {
        return quote!();
    }
    quote! {
        fn page(#request) -> ::rookery_plugin::Result<::rookery_plugin::pages::View> {
            match request.page.as_str() {
                #(#shown,)*
                _ => Err(::rookery_plugin::Error::NotFound),
            }
        }
        fn submit(
            #request,
            submission: &::rookery_plugin::pages::Submission,
        ) -> ::rookery_plugin::Result<::rookery_plugin::pages::Outcome> {
            let _ = (ctx, submission);
            match request.page.as_str() {
                #(#sent,)*
                _ => Err(::rookery_plugin::Error::NotFound),
            }
        }
    }
}

fn jobs(found: &[Found]) -> TokenStream {
    let arms: Vec<_> = found
        .iter()
        .filter_map(|found| {
            let Role::Job(kind) = &found.role else { return None };
            let path = path(found, "job_");
            Some(quote!(#kind => #path(task)))
        })
        .collect();
    if arms.is_empty() {
        return quote!();
    }
    quote! {
        fn job(
            task: &::rookery_plugin::contract::jobs::Task,
        ) -> ::rookery_plugin::Result<::rookery_plugin::contract::jobs::Outcome> {
            match task.kind.as_str() {
                #(#arms,)*
                other => Ok(::rookery_plugin::contract::jobs::Outcome::GiveUp(::std::format!("there is no job {other}"))),
            }
        }
    }
}

fn commands(found: &[Found]) -> TokenStream {
    let arms: Vec<_> = found
        .iter()
        .filter_map(|found| {
            let Role::Command(name) = &found.role else { return None };
            let path = path(found, "command_");
            Some(quote!(#name => #path(ctx, args)))
        })
        .collect();
    if arms.is_empty() {
        return quote!();
    }
    quote! {
        fn command(
            ctx: &::rookery_plugin::Context,
            name: &str,
            args: &str,
        ) -> ::rookery_plugin::Result<::std::string::String> {
            match name {
                #(#arms,)*
                _ => Err(::rookery_plugin::Error::NotFound),
            }
        }
    }
}

fn lifecycle(found: &[Found]) -> TokenStream {
    let init = found.iter().find(|found| matches!(found.role, Role::Init)).map(|found| {
        let modules = found.module.iter().map(|module| format_ident!("{}", module));
        quote! {
            fn init(
                environment: &::rookery_plugin::contract::lifecycle::Environment,
            ) -> ::std::result::Result<(), ::std::string::String> {
                crate::#(#modules::)*__rookery_init(environment)
            }
        }
    });
    let self_test = found.iter().find(|found| matches!(found.role, Role::SelfTest)).map(|found| {
        let modules = found.module.iter().map(|module| format_ident!("{}", module));
        quote! {
            fn self_test() -> ::std::result::Result<(), ::std::string::String> {
                crate::#(#modules::)*__rookery_self_test()
            }
        }
    });
    quote!(#init #self_test)
}

/// The interfaces that the component exports.
fn interfaces(found: &[Found]) -> Vec<syn::Ident> {
    let mut names: Vec<String> = found
        .iter()
        .map(|found| match &found.role {
            Role::Route(_) => "routes".to_owned(),
            Role::Hook(moment, _) => manifest_moment(moment).replace('-', "_"),
            Role::Job(_) => "jobs".to_owned(),
            Role::Page(_) | Role::Submit(_) => "pages".to_owned(),
            Role::Command(_) => "admin".to_owned(),
            Role::Init | Role::SelfTest => "lifecycle".to_owned(),
        })
        .collect();
    names.sort();
    names.dedup();
    names.iter().map(|name| format_ident!("{}", name)).collect()
}

/// Error messages for declarations in the manifest without a function, and for declarations with two functions.
fn missing(manifest: &Manifest, found: &[Found]) -> Vec<String> {
    let mut complaints = Vec::new();
    for route in manifest.routes().iter().filter(|route| !route.native) {
        let count = found.iter().filter(|found| matches!(&found.role, Role::Route(id) if *id == route.id)).count();
        if count == 0 {
            let method = route.methods.first().map(|method| method.to_ascii_lowercase()).unwrap_or_default();
            complaints.push(format!(
                "plugin.toml declares the route {:?}, which no function answers. Add:\n\n\
                 #[route({method}, {:?}, scopes = {:?})]\nfn {}(ctx: &Context) -> Result<Output> {{ … }}\n",
                route.id, route.path, route.scopes, route.id
            ));
        } else if count > 1 {
            complaints.push(format!("{count} functions answer the route {:?}: give one another id = \"…\"", route.id));
        }
    }
    for hook in manifest.hooks() {
        let answers =
            |found: &&Found| matches!(&found.role, Role::Hook(moment, _) if manifest_moment(moment) == hook.on);
        let kinds: Vec<&[String]> = found
            .iter()
            .filter(answers)
            .map(|found| if let Role::Hook(_, kinds) = &found.role { kinds.as_slice() } else { &[] })
            .collect();
        let covered = |kind: &String| kinds.iter().any(|own| own.is_empty() || own.contains(kind));
        let uncovered: Vec<&String> = hook.kinds.iter().filter(|kind| !covered(kind)).collect();
        if kinds.is_empty() || !uncovered.is_empty() {
            let moment = hook.on.replace('-', "_");
            complaints.push(format!(
                "plugin.toml declares the hook {:?} {uncovered:?}, which no function answers. Mark one #[on({moment})]",
                hook.on
            ));
        }
    }
    for job in manifest.jobs() {
        if !found.iter().any(|found| matches!(&found.role, Role::Job(kind) if *kind == job)) {
            complaints.push(format!(
                "plugin.toml declares the job {job:?}, which no function does. Mark one #[job({job:?})]"
            ));
        }
    }
    for page in manifest.pages() {
        if !found.iter().any(|found| matches!(&found.role, Role::Page(id) if *id == page)) {
            complaints.push(format!("plugin.toml declares the page {page:?}. Mark a function #[page({page:?})]"));
        }
    }
    for command in manifest.commands() {
        if !found.iter().any(|found| matches!(&found.role, Role::Command(name) if *name == command)) {
            complaints
                .push(format!("plugin.toml declares the command {command:?}. Mark a function #[command({command:?})]"));
        }
    }
    complaints
}
