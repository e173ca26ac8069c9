//! The home timeline of people with keyword filters, compared with the same people without a filter.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use serde_json::{Value, json};

use crate::data::{DOMAIN, Data};
use crate::load::{Amount, Connection, request};
use crate::routes;
use crate::scratch;
use crate::site::Site;
use crate::subject::Subject;
use crate::words::HASHTAGS;

/// Keywords of each person: some occur in their timelines, others do not.
const KEYWORDS: usize = 20;
const CONNECTIONS: usize = 16;
const AMOUNT: Amount = Amount { requests: usize::MAX, time: Duration::from_secs(3) };

/// Measures on a site with a filled database and a stopped server.
pub async fn measure(site: &Site<'_>, data: &Data) {
    println!("\nHome, 20, with {KEYWORDS} keywords and with none, {CONNECTIONS} connections (CPU microseconds)\n");
    let server = site.start(&[]).await;
    let db = scratch::open(site.url).await;
    let subject = Subject::new(server.address, server.id(), &db);
    let home =
        routes::all(&data.targets).into_iter().find(|route| route.name == "home, 20").expect("the home timeline");
    let next = Arc::new(AtomicUsize::new(0));
    let mut costs = Vec::new();
    for filtered in [false, true] {
        if filtered {
            filter(&server, data).await;
        }
        subject.warm(&home, &next).await;
        costs.push(subject.load(&home, AMOUNT, CONNECTIONS, &next).await.total().unwrap_or_default());
    }
    println!("none {:.0}, filtered {:.0}: {:.2} x", costs[0], costs[1], costs[1] / costs[0]);
    server.stop();
    db.close().await;
}

/// Creates a filter for every viewer.
async fn filter(server: &crate::process::Process, data: &Data) {
    let mut connection = Connection::open(server.address).await;
    let words = HASHTAGS.iter().map(|word| (*word).to_owned()).chain((0..).map(|number| format!("unheard{number}")));
    let keywords: Vec<Value> =
        words.take(KEYWORDS).map(|word| json!({ "keyword": word, "whole_word": true })).collect();
    let body = json!({
        "title": "Enough of it", "context": ["home"], "filter_action": "warn", "keywords_attributes": keywords,
    });
    for token in &data.targets.tokens {
        let made = request("POST", "/api/v2/filters", DOMAIN, Some(token), Some(&body.to_string()));
        let made: Value = serde_json::from_slice(&connection.ask(&made).await).expect("a filter");
        assert_eq!(made["keywords"].as_array().map(Vec::len), Some(KEYWORDS), "{made}");
    }
}
