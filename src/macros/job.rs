//! The attribute [`job`](super::job()): registers a function as the implementation of a kind of job.
//!
//! The arguments after the context determine how it runs: with `tx`, the job is removed in that transaction; with
//! `claim`, the function removes the job itself; with neither, the worker removes it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, FnArg, ItemFn, Type};

pub(super) fn register(item: &ItemFn) -> Result<TokenStream, Error> {
    let signature = &item.sig;
    let wrong =
        || Error::new_spanned(signature, "a job is an async fn of `(cx, job)`, `(cx, tx, job)` or `(cx, job, claim)`");
    if signature.asyncness.is_none() {
        return Err(wrong());
    }
    let types: Vec<&Type> = signature
        .inputs
        .iter()
        .map(|argument| match argument {
            FnArg::Typed(argument) => Ok(argument.ty.as_ref()),
            FnArg::Receiver(_) => Err(wrong()),
        })
        .collect::<Result<_, _>>()?;
    let work = &signature.ident;
    let (job, body) = match types[..] {
        [_, job] => (
            job,
            quote! {
                #work(cx, queue::payload(row.payload)?).await?;
                Ok(::context::queue::Done::Remove)
            },
        ),
        [_, Type::Reference(_), job] => (
            job,
            quote! {
                let job = queue::payload(row.payload)?;
                let mut tx = cx.db.begin().await?;
                let next = #work(cx, &mut tx, job).await?;
                queue::end_step::<#job>(cx, tx, next.into(), row.claim).await
            },
        ),
        [_, job, _] => (job, quote!(#work(cx, queue::payload(row.payload)?, row.claim).await)),
        _ => return Err(wrong()),
    };
    Ok(quote! {
        #item

        const _: () = {
            use ::context::queue::run as queue;
            #[queue::linkme::distributed_slice(queue::RUNNERS)]
            #[linkme(crate = queue::linkme)]
            static RUNNER: queue::Runner = queue::Runner { kind: <#job as ::context::queue::Job>::KIND, run };

            fn run(cx: &::context::Cx, row: queue::JobRow) -> queue::Running<'_> {
                ::std::boxed::Box::pin(async move { #body })
            }
        };
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str) -> Result<String, String> {
        let item: ItemFn = syn::parse_str(text).expect("a function");
        register(&item).map(|made| made.to_string().replace(' ', "")).map_err(|error| error.to_string())
    }

    #[test]
    fn parameters_say_how_a_job_runs() {
        let step = made("async fn sweep(cx: &Cx, tx: &mut Tx, job: Sweep) -> Result<()> {}").expect("made");
        assert!(step.contains("end_step::<Sweep>(cx,tx,next.into(),row.claim)"), "{step}");
        let alone = made("async fn sweep(cx: &Cx, Sweep { room }: Sweep) -> Result<()> {}").expect("made");
        assert!(alone.contains("<Sweepas::context::queue::Job>::KIND") && alone.contains("Done::Remove"), "{alone}");
        let claimed = made("async fn sweep(cx: &Cx, job: Sweep, claim: Claim) -> Result<Done> {}").expect("made");
        assert!(claimed.contains("row.claim)") && !claimed.contains("Done::Remove"), "{claimed}");
    }

    #[test]
    fn functions_of_other_shapes_are_refused() {
        for text in ["fn sweep(cx: &Cx, job: Sweep) {}", "async fn sweep() {}", "async fn sweep(&self, job: Sweep) {}"]
        {
            assert!(made(text).is_err(), "{text}");
        }
    }
}
