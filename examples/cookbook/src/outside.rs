//! Recipes for other servers: one that is asked, and one that calls.

use std::time::Duration;

use rookery_plugin::contract::routes::Body;
use rookery_plugin::prelude::*;

const HOUR_MS: u32 = 60 * 60 * 1_000;

#[route(get, "/api/v1/catalogues/{name}")]
fn catalogue(name: String) -> Result<Output> {
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(Error::NotFound);
    }
    let key = format!("catalogue/{name}/csv");
    let csv = match cache::get(&key) {
        Some(csv) => csv,
        None => {
            let csv = fetch_catalogue(&name)?;
            cache::set(&key, &csv, HOUR_MS);
            csv
        }
    };
    let file = format!("attachment; filename=\"{name}.csv\"");
    Ok(Output::bytes("text/csv", csv)?.with_header("content-disposition", &file))
}

fn fetch_catalogue(name: &str) -> Result<Vec<u8>> {
    let begun = system::elapsed();
    let answer = http_client::fetch(&[http_client::get(&format!("https://hooks.example.com/catalogues/{name}"))]).pop();
    let taken = Duration::from_millis(system::elapsed() - begun);
    log::observe("catalogue_seconds", &[], taken.as_secs_f64());
    match answer {
        Some(Ok(answer)) if answer.status == 200 => Ok(answer.body),
        Some(Ok(answer)) if answer.status == 404 => Err(Error::NotFound),
        other => {
            log::debug("no catalogue", &[("answer", &format!("{other:?}"))]);
            Err(Error::Unavailable("The catalogue does not answer".into()))
        }
    }
}

#[route(post, "/api/v1/catalogue_webhook")]
fn catalogue_changed(ctx: &Context) -> Result<Output> {
    let Some(Body::Bytes(body)) = ctx.request().map(|request| &request.body) else {
        return Err(Error::bad_request("Send the name of the catalogue as text/plain"));
    };
    let Some(secret) = config::secret("WEBHOOK_SECRET") else {
        log::error("a webhook is refused until WEBHOOK_SECRET is set", &[]);
        return Err(Error::Unavailable("Webhooks are not set up".into()));
    };
    if !is_same(ctx.header("X-Webhook-Token").unwrap_or_default(), &secret) {
        return Err(Error::Unauthorized("The token is wrong".into()));
    }
    cache::drop_prefix(&format!("catalogue/{}/", String::from_utf8_lossy(body).trim()));
    Output::empty()
}

/// Takes constant time, so that an attacker cannot find the token letter by letter.
fn is_same(sent: &str, secret: &str) -> bool {
    let pairs = sent.bytes().zip(secret.bytes());
    sent.len() == secret.len() && pairs.fold(0, |differing, (sent, secret)| differing | (sent ^ secret)) == 0
}

#[cfg(test)]
mod tests {
    use rookery_plugin::contract::http_client::{HttpError, Response};
    use rookery_plugin::test::Fake;

    use super::*;
    use crate::Cookbook;

    fn serve(fake: &Fake, body: &str) {
        let answer = Response { status: 200, headers: vec![], body: body.into(), url: String::new() };
        fake.state(|state| state.web.insert("https://hooks.example.com/catalogues/books".into(), Ok(answer)));
    }

    #[test]
    fn a_catalogue_is_fetched_once_until_it_changes() {
        let fake = Fake::new::<Cookbook>();
        fake.state(|state| state.secrets.insert("WEBHOOK_SECRET".into(), "a secret".into()));
        let read = || fake.get("/api/v1/catalogues/books").send();
        serve(&fake, "title\nBirds\n");
        let first = read();
        assert_eq!(first.headers, [("content-disposition".into(), "attachment; filename=\"books.csv\"".into())]);
        assert_eq!((first.json, read().json), (json!("title\nBirds\n"), json!("title\nBirds\n")));
        assert_eq!(fake.state(|state| state.fetched.len()), 1);

        serve(&fake, "title\nTrees\n");
        let changed = || fake.post("/api/v1/catalogue_webhook").bytes(b"books");
        for wrong in ["", "a", "a sekret", "a secret "] {
            assert_eq!(changed().header("X-Webhook-Token", wrong).send().status, 401, "{wrong}");
        }
        assert_eq!(read().json, json!("title\nBirds\n"));
        let _ = changed().header("X-Webhook-Token", "a secret").send().ok();
        assert_eq!(read().json, json!("title\nTrees\n"));
    }

    #[test]
    fn missing_record_differs_from_failed_request() {
        let fake = Fake::new::<Cookbook>();
        let status = |name: &str| fake.get(&format!("/api/v1/catalogues/{name}")).send().status;
        assert_eq!(status("..%2Fsecrets"), 404);
        assert_eq!(fake.state(|state| state.fetched.len()), 0, "an invalid name is not requested");
        fake.state(|state| {
            state.web.insert("https://hooks.example.com/catalogues/books".into(), Err(HttpError::Timeout))
        });
        assert_eq!(status("books"), 503);
        let unset = fake.post("/api/v1/catalogue_webhook").bytes(b"books").send();
        assert_eq!(unset.status, 503);
    }
}
