//! Measured routes. Consecutive requests are by different people, for different statuses or accounts where they name
//! one.

use std::sync::Arc;
use std::time::Duration;

use crate::load::{Amount, Requests, request};
use crate::targets::Targets;

/// A route under measurement.
#[derive(Clone)]
pub struct Route {
    pub name: String,
    pub requests: Requests,
    pub amount: Amount,
    /// Changes data, and queues work.
    pub writes: bool,
}

impl Route {
    /// Minimum size of a complete response, in bytes: the name of a page ends with its number of entries, each of at
    /// least 200 bytes.
    pub fn least_bytes(&self) -> usize {
        let entries = self.name.rsplit_once(", ").and_then(|(_, entries)| entries.parse::<usize>().ok());
        entries.map_or(0, |entries| entries * 200)
    }
}

/// Number of responses of a route for the floor: as many as there are people.
pub const ANSWERS: usize = 50;

/// Number of statuses that are requested one by one: few enough that each was requested before.
const KNOWN: usize = 500;

/// Words in the texts of `words`: in most statuses, or in few.
const SEARCHED: [&str; 6] = ["rooks", "wind%20west", "%22old%20church%22", "krahen", "cafe", "has:image"];

const READING: Duration = Duration::from_millis(1_200);
const WRITING: Duration = Duration::from_secs(4);

/// All routes except those without targets in `targets`.
pub fn all(targets: &Arc<Targets>) -> Vec<Route> {
    let mut routes = vec![
        open(targets, "/livez", "/livez"),
        open(targets, "nodeinfo", "/nodeinfo/2.0"),
        open(targets, "instance v2", "/api/v2/instance"),
        get(targets, "verify_credentials", |_, _| "/api/v1/accounts/verify_credentials".into()),
        get(targets, "one status", |targets, number| {
            format!("/api/v1/statuses/{}", pick(&targets.statuses, number * 7 % KNOWN))
        }),
        get(targets, "search of accounts, 20", |targets, number| {
            format!("/api/v2/search?q={}&type=accounts&limit=20", pick(&targets.names, number))
        }),
        get(targets, "search of statuses, 20", |_, number| {
            format!("/api/v2/search?q={}&type=statuses&limit=20", SEARCHED[number % SEARCHED.len()])
        }),
        get(targets, "home, 20", |_, _| "/api/v1/timelines/home?limit=20".into()),
        get(targets, "public, 20", |_, _| "/api/v1/timelines/public?limit=20".into()),
        get(targets, "account statuses, 20", |targets, number| {
            format!("/api/v1/accounts/{}/statuses?limit=20", pick(&targets.authors, number * 3))
        }),
        get(targets, "conversations, 20", |_, _| "/api/v1/conversations?limit=20".into()),
        get(targets, "notifications, 40", |_, _| "/api/v1/notifications?limit=40".into()),
        get(targets, "notifications v2, 40", |_, _| "/api/v2/notifications?limit=40".into()),
    ];
    if !targets.sessions.is_empty() {
        routes.push(page(targets, "home in the browser, 20", "/home?limit=20"));
    }
    if !targets.threads.is_empty() {
        routes.push(get(targets, "context", |targets, number| {
            format!("/api/v1/statuses/{}/context", pick(&targets.threads, number))
        }));
    }
    if !targets.lists.is_empty() {
        routes.push(get(targets, "list, 20", |targets, number| {
            format!("/api/v1/timelines/list/{}?limit=20", pick(&targets.lists, number))
        }));
    }
    routes.push(favourite(targets));
    if !targets.polls.is_empty() {
        routes.push(vote(targets));
    }
    routes.extend((0..targets.publishers.len()).map(|publisher| publish(targets, publisher)));
    routes
}

fn pick(all: &[String], number: usize) -> &str {
    &all[number % all.len()]
}

fn open(targets: &Targets, name: &str, path: &str) -> Route {
    let bytes = request("GET", path, &targets.host, None, None);
    Route { name: name.to_owned(), requests: Arc::new(move |_| bytes.clone()), amount: reading(), writes: false }
}

fn get(targets: &Arc<Targets>, name: &str, path: fn(&Targets, usize) -> String) -> Route {
    let targets = Arc::clone(targets);
    let requests: Requests = Arc::new(move |number| {
        request("GET", &path(&targets, number), &targets.host, Some(pick(&targets.tokens, number)), None)
    });
    Route { name: name.to_owned(), requests, amount: reading(), writes: false }
}

/// A page of the client in the browser.
fn page(targets: &Arc<Targets>, name: &str, path: &'static str) -> Route {
    let targets = Arc::clone(targets);
    let requests: Requests = Arc::new(move |number| {
        let cookie = format!("Cookie: __Host-rookery_session={}\r\n", pick(&targets.sessions, number));
        format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{cookie}\r\n", targets.host).into_bytes()
    });
    Route { name: name.to_owned(), requests, amount: reading(), writes: false }
}

/// Each person iterates over the statuses from a different one on: no pair repeats.
fn favourite(targets: &Arc<Targets>) -> Route {
    let targets = Arc::clone(targets);
    let requests: Requests = Arc::new(move |number| {
        let person = number % targets.tokens.len();
        let status = pick(&targets.statuses, number / targets.tokens.len() + person * 101);
        let path = format!("/api/v1/statuses/{status}/favourite");
        request("POST", &path, &targets.host, Some(&targets.tokens[person]), None)
    });
    Route { name: "favourite".to_owned(), requests, amount: writing(2_000), writes: true }
}

/// Each person votes once in each poll, which is enough for three loads and the warm-up.
fn vote(targets: &Arc<Targets>) -> Route {
    let pairs = targets.tokens.len() * targets.polls.len();
    let targets = Arc::clone(targets);
    let requests: Requests = Arc::new(move |number| {
        let (person, poll) = (number % targets.tokens.len(), pick(&targets.polls, number / targets.tokens.len()));
        let body = serde_json::json!({ "choices": [number % 3] }).to_string();
        request(
            "POST",
            &format!("/api/v1/polls/{poll}/votes"),
            &targets.host,
            Some(&targets.tokens[person]),
            Some(&body),
        )
    });
    Route { name: "vote".to_owned(), requests, amount: writing(pairs / 4), writes: true }
}

fn publish(targets: &Arc<Targets>, publisher: usize) -> Route {
    let followers = targets.publishers[publisher].followers;
    let targets = Arc::clone(targets);
    let requests: Requests = Arc::new(move |number| {
        let text = format!(
            "The rooks are back, number {number} of them, and the wind has gone round to the west again while nobody \
             looked: who has seen them between the church and the river? #Rooks https://journal.example/rooks/{number}"
        );
        let body = serde_json::json!({ "status": text }).to_string();
        let token = &targets.publishers[publisher].token;
        request("POST", "/api/v1/statuses", &targets.host, Some(token), Some(&body))
    });
    let amount = writing(if followers > 500 { 1000 } else { 2000 });
    Route { name: format!("publish, {followers} followers"), requests, amount, writes: true }
}

fn reading() -> Amount {
    Amount { requests: usize::MAX, time: READING }
}

fn writing(requests: usize) -> Amount {
    Amount { requests, time: WRITING }
}
