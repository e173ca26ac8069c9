//! `cargo bench -- --url http://HOST:PORT --tokens FILE`: another server, through its API only.
//!
//! For comparisons with servers that have the same API and similar data. The targets of requests are learned from the
//! server: accounts with many followers publish; statuses and their authors come from the public timeline, without
//! authors that one of the people blocks; the threads are the statuses of it with the most replies, unless
//! `--threads` names others. Processor time is measured for `--pid`; queued work counts as finished when the process
//! is idle.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::Value;

use crate::load::{Connection, request};
use crate::options::{Options, Remote};
use crate::subject::Subject;
use crate::targets::{Publisher, Targets};
use crate::{measure, routes};

/// Number of pages read from the public timeline.
const PAGES: usize = 25;
/// Number of threads to request, with the most replies.
const THREADS: usize = 10;
/// Minimum number of followers of publishers.
const FOLLOWERS: usize = 100;

/// Measures the routes selected by `options` and prints the table.
pub async fn measure(remote: &Remote, options: &Options) {
    let url = url::Url::parse(&remote.url).expect("http://HOST:PORT");
    let host = url.host_str().expect("a host").to_owned();
    let port = url.port_or_known_default().expect("a port");
    let address = tokio::net::lookup_host((host.as_str(), port)).await.expect("a host that is known").next();
    let address = address.expect("an address");
    let subject = Subject { address, pid: remote.pid, postgres: remote.postgres, db: None };
    let text = std::fs::read_to_string(&remote.tokens).expect("a file with tokens: --tokens FILE");
    let tokens: Vec<String> =
        text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect();
    let mut targets = learn(address, host, tokens).await;
    if !remote.threads.is_empty() {
        targets.threads.clone_from(&remote.threads);
    }
    let targets = Arc::new(targets);
    println!(
        "{} people, {} statuses of {} accounts, {} threads\n",
        targets.tokens.len(),
        targets.statuses.len(),
        targets.authors.len(),
        targets.threads.len()
    );
    let mut routes = routes::all(&targets);
    routes.retain(|route| options.wants(&route.name));
    measure::table(&subject, routes).await;
}

async fn learn(address: SocketAddr, host: String, tokens: Vec<String>) -> Targets {
    let mut asker = Asker { connection: Connection::open(address).await, host };
    let mut people = Vec::new();
    for token in tokens {
        let account = asker.get("/api/v1/accounts/verify_credentials", &token).await;
        let followers = account["followers_count"].as_u64().unwrap_or_default();
        people.push(Publisher { followers: usize::try_from(followers).expect("a number of people"), token });
    }
    assert!(!people.is_empty(), "there is no token");
    let publishers = publishers(&people);
    let publishes = |person: &Publisher| publishers.iter().any(|publisher| publisher.token == person.token);
    let mut readers: Vec<String> =
        people.iter().filter(|person| !publishes(person)).map(|person| person.token.clone()).collect();
    if readers.is_empty() {
        readers = people.into_iter().map(|person| person.token).collect();
    }
    let mut blocked = BTreeSet::new();
    for token in &readers {
        let blocks = asker.get("/api/v1/blocks?limit=80", token).await;
        blocked.extend(blocks.as_array().into_iter().flatten().map(id));
    }
    let mut seen = asker.public(&readers[0]).await;
    seen.retain(|status| !blocked.contains(&id(&status["account"])));
    assert!(!seen.is_empty(), "the public timeline has nothing that everyone may see");
    let authors: BTreeSet<String> = seen.iter().map(|status| id(&status["account"])).collect();
    let name = seen[0]["account"]["username"].as_str().expect("a name").to_owned();
    let letters: Vec<usize> = name.char_indices().map(|(at, letter)| at + letter.len_utf8()).take(6).collect();
    Targets {
        host: asker.host,
        tokens: readers,
        sessions: Vec::new(),
        authors: authors.into_iter().collect(),
        threads: threads(&seen).into_iter().map(id).collect(),
        statuses: seen.iter().map(id).collect(),
        names: letters.into_iter().map(|end| name[..end].to_owned()).collect(),
        // Another server has different lists, or none.
        lists: Vec::new(),
        publishers,
        polls: Vec::new(),
    }
}

fn id(value: &Value) -> String {
    value["id"].as_str().expect("an id").to_owned()
}

/// Of the people with many followers, the one with the fewest and the one with the most.
fn publishers(people: &[Publisher]) -> Vec<Publisher> {
    let mut known: Vec<Publisher> = people.iter().filter(|person| person.followers >= FOLLOWERS).cloned().collect();
    known.sort_by_key(|person| person.followers);
    let last = known.len().saturating_sub(1);
    if last > 1 {
        known.drain(1..last);
    }
    known
}

fn threads(seen: &[Value]) -> Vec<&Value> {
    let answers = |status: &&Value| std::cmp::Reverse(status["replies_count"].as_u64().unwrap_or_default());
    let mut threads: Vec<&Value> = seen.iter().filter(|status| status["replies_count"] != 0).collect();
    threads.sort_by_key(answers);
    // Of similar length, so that all pages cost about the same.
    let most = threads.first().map_or(0, |first| answers(first).0);
    threads.into_iter().take(THREADS).filter(|status| answers(status).0 * 2 >= most).collect()
}

struct Asker {
    connection: Connection,
    host: String,
}

impl Asker {
    async fn get(&mut self, path: &str, token: &str) -> Value {
        let bytes = request("GET", path, &self.host, Some(token), None);
        serde_json::from_slice(&self.connection.ask(&bytes).await).expect("JSON")
    }

    /// Newest statuses of the public timeline.
    async fn public(&mut self, token: &str) -> Vec<Value> {
        let mut seen: Vec<Value> = Vec::new();
        for _ in 0..PAGES {
            let after =
                seen.last().map_or(String::new(), |last| format!("&max_id={}", last["id"].as_str().unwrap_or("")));
            let page = self.get(&format!("/api/v1/timelines/public?limit=40{after}"), token).await;
            let page = page.as_array().expect("statuses").clone();
            if page.is_empty() {
                break;
            }
            seen.extend(page);
        }
        seen
    }
}
