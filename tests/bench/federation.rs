//! Federation: the cost of an activity that arrives, with everything that follows from it, how many are accepted in a
//! second, and the cost of a delivery; and many deliveries to hosts of which some fail and some hang.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use database::Db;
use database::db::Engine;
use model::clock::Clock;

use crate::data::Data;
use crate::load::{self, Amount, Connection};
use crate::neighbours::{self, Answer, Neighbour, Receiver};
use crate::process::{Process, postgres_cpu};
use crate::scratch;
use crate::site::Site;
use crate::streams;

/// Local followers of the neighbour who writes.
const FOLLOWERS: usize = 50;
/// Number of activities that arrive.
const ACTIVITIES: usize = 3_000;
const CONNECTIONS: usize = 16;
/// Number of hosts that each status is delivered to, and number of statuses.
const HOSTS: usize = 100;
const STATUSES: usize = 40;
/// Number of hosts, and of statuses, of the long run: 20,000 deliveries.
const MANY_HOSTS: usize = 200;
const MANY_STATUSES: usize = 100;
/// How long a tenth of the hosts fails and a tenth hangs.
const TROUBLE: Duration = Duration::from_secs(60);
/// Time limit of the long run.
const PATIENCE: Duration = Duration::from_secs(900);

/// Measures on a site with a filled database and a stopped server.
pub async fn measure(site: &Site<'_>, db: &Db, data: &Data) {
    println!("\nFederation\n");
    let server = site.start(&neighbours::KEYS).await;
    arrivals(&server, db).await;
    deliveries(&server, db, data).await;
    server.stop();
}

/// Processor time of the server and of its database.
struct Spent(Duration, Duration);

impl Spent {
    fn now(server: &Process, db: &Db) -> Self {
        Self(server.cpu(), if db.engine() == Engine::Postgres { postgres_cpu() } else { Duration::ZERO })
    }

    /// Milliseconds since `before`, divided by `count`: of the server, and of the database.
    fn each(&self, before: &Self, count: usize) -> (f64, f64) {
        let each = |spent: Duration| spent.as_secs_f64() * 1e3 / count as f64;
        (each(self.0.saturating_sub(before.0)), each(self.1.saturating_sub(before.1)))
    }
}

/// Statuses of a neighbour with [`FOLLOWERS`] followers here arrive.
async fn arrivals(server: &Process, db: &Db) {
    let neighbour = Neighbour::new(db, 0, "127.2.0.1:9").await;
    let follows = format!(
        "INSERT INTO follows (id, account_id, target_account_id, created_at, show_reblogs, notify)
         SELECT u.account_id, u.account_id, {}, {}, TRUE, FALSE FROM users u ORDER BY u.account_id LIMIT {FOLLOWERS}",
        neighbour.id,
        scratch::now(db)
    );
    db.execute_raw(&follows).await.expect("followers");
    // Signed before: the neighbour's work is not measured.
    let letters: Vec<Vec<u8>> =
        (0..ACTIVITIES + CONNECTIONS).map(|number| neighbour.post(&create(&neighbour, number))).collect();
    let letters = Arc::new(letters);
    let requests: load::Requests = {
        let letters = Arc::clone(&letters);
        Arc::new(move |number| letters[number].clone())
    };
    let next = Arc::new(AtomicUsize::new(0));
    let limit = |requests| Amount { requests, time: Duration::from_secs(120) };
    load::run(server.address, CONNECTIONS, limit(CONNECTIONS), &requests, &next).await;
    scratch::settle(db).await;
    let (before, begun) = (Spent::now(server, db), Instant::now());
    let run = load::run(server.address, CONNECTIONS, limit(ACTIVITIES), &requests, &next).await;
    scratch::settle(db).await;
    let (all, (own, database)) = (begun.elapsed(), Spent::now(server, db).each(&before, run.requests));
    let stored =
        scratch::number(db, &format!("SELECT COUNT(*) FROM statuses WHERE account_id = {}", neighbour.id)).await;
    println!(
        "{} signed activities accepted at {:.0} a second, all processed within {:.1} s; {stored} statuses stored\n\
         CPU {own:.2} ms each with the home timelines of {FOLLOWERS} followers, of the database {database:.2} ms",
        run.requests,
        run.per_second(),
        all.as_secs_f64(),
    );
}

/// A status as servers send it.
fn create(author: &Neighbour, number: usize) -> String {
    let (uri, now) = (&author.uri, Clock::system().now().to_api());
    let audience = serde_json::json!({
        "to": ["https://www.w3.org/ns/activitystreams#Public"], "cc": [format!("{uri}/followers")],
    });
    let text = "A sentence of moderate length about what happened today. ".repeat(5);
    let note = serde_json::json!({
        "id": format!("{uri}/statuses/{number}"), "type": "Note", "attributedTo": uri, "published": now,
        "content": format!("<p>{number} {text}<a href=\"http://127.2.0.1:9/tags/bench\" rel=\"tag\">#<span>bench</span></a></p>"),
        "tag": [{ "type": "Hashtag", "href": "http://127.2.0.1:9/tags/bench", "name": "#bench" }],
        "url": format!("{uri}/{number}"), "sensitive": false, "to": audience["to"], "cc": audience["cc"],
        "conversation": format!("tag:127.2.0.1:9,2026:{number}"), "attachment": [],
    });
    let activity = serde_json::json!({
        "@context": ["https://www.w3.org/ns/activitystreams", { "Hashtag": "as:Hashtag" }],
        "id": format!("{uri}/statuses/{number}/activity"), "type": "Create", "actor": uri, "published": now,
        "to": audience["to"], "cc": audience["cc"], "object": note,
    });
    activity.to_string()
}

/// Statuses of a publisher are delivered to [`HOSTS`] hosts.
async fn deliveries(server: &Process, db: &Db, data: &Data) {
    let receiver = Receiver::start(|_| Answer::Accept).await;
    let token = prepare(db, data, (0..HOSTS).map(|number| receiver.host(number))).await;
    let mut connection = Connection::open(server.address).await;
    streams::publish(&mut connection, &token, 0).await;
    arrived(&receiver, HOSTS).await;
    scratch::settle(db).await;
    let (before, begun) = (Spent::now(server, db), Instant::now());
    for number in 1..=STATUSES {
        streams::publish(&mut connection, &token, number).await;
    }
    arrived(&receiver, (STATUSES + 1) * HOSTS).await;
    let all = begun.elapsed();
    scratch::settle(db).await;
    let count = STATUSES * HOSTS;
    let (own, database) = Spent::now(server, db).each(&before, count);
    println!(
        "{STATUSES} statuses delivered to {HOSTS} hosts each at {:.0} deliveries a second\n\
         CPU {own:.2} ms a delivery, signature and publication included, of the database {database:.2} ms",
        count as f64 / all.as_secs_f64(),
    );
}

/// Gives a publisher followers on `hosts`, and a key; returns the token.
async fn prepare(db: &Db, data: &Data, hosts: impl Iterator<Item = String>) -> String {
    let publisher = data.targets.publishers.iter().min_by_key(|one| one.followers).expect("a publisher");
    let account =
        format!("SELECT account_id FROM oauth_tokens WHERE token_hash = '{}'", crypto::hash(&publisher.token));
    let account = scratch::number(db, &account).await;
    neighbours::follow(db, hosts, account).await;
    neighbours::key_of(db, account).await;
    publisher.token.clone()
}

async fn arrived(receiver: &Receiver, count: usize) {
    let begun = Instant::now();
    while receiver.accepted() < count {
        assert!(begun.elapsed() < PATIENCE, "{} of {count} deliveries arrived", receiver.accepted());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// 20,000 deliveries to hosts of which a tenth fails and a tenth hangs for a minute: nothing is lost, and memory does not
/// grow with what is owed.
pub async fn storm(site: &Site<'_>, db: &Db, data: &Data) {
    let expected = MANY_HOSTS * MANY_STATUSES;
    println!("\n{expected} deliveries to {MANY_HOSTS} hosts, of which a tenth fails and a tenth hangs for a minute\n");
    let trouble = Arc::new(AtomicBool::new(true));
    let judging = Arc::clone(&trouble);
    let receiver = Receiver::start(move |host| {
        // By the last number of the address.
        let number: usize = host.split(':').next().and_then(|name| name.rsplit('.').next()?.parse().ok()).unwrap_or(0);
        match number % 10 {
            _ if !judging.load(Ordering::Relaxed) => Answer::Accept,
            0 => Answer::Fail,
            1 => Answer::Hang,
            _ => Answer::Accept,
        }
    })
    .await;
    let server = site.start(&neighbours::KEYS).await;
    let token = prepare(db, data, (0..MANY_HOSTS).map(|number| receiver.host(number))).await;
    let mut connection = Connection::open(server.address).await;
    let (begun, cpu, idle) = (Instant::now(), server.cpu(), server.own_memory());
    let mut most = idle;
    for number in 0..MANY_STATUSES {
        streams::publish(&mut connection, &token, number).await;
        most = most.max(server.own_memory());
    }
    let published = begun.elapsed();
    let mut healthy = None;
    let mut settled = idle;
    while receiver.accepted() < expected {
        assert!(begun.elapsed() < PATIENCE, "{} of {expected} deliveries arrived", receiver.accepted());
        if healthy.is_none() && receiver.accepted() * 10 >= expected * 8 {
            healthy = Some(begun.elapsed());
            settled = server.own_memory();
        }
        if begun.elapsed() > TROUBLE {
            trouble.store(false, Ordering::Relaxed);
        }
        most = most.max(server.own_memory());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let all = begun.elapsed();
    scratch::settle(db).await;
    let (distinct, twice) = receiver.distinct();
    let owed = scratch::number(db, "SELECT COUNT(*) FROM deliveries").await;
    println!(
        "published within {:.1} s; the healthy hosts had all of theirs after {:.1} s, all hosts after {:.1} s\n\
         arrived: {distinct}, more than once: {twice}, never: {}, still owed: {owed}; answered with 503: {}\n\
         CPU {:.2} ms a delivery; memory of its own: {idle:.0} MiB before, {settled:.0} MiB when the healthy had theirs, \
         most {most:.0} MiB, {:.0} MiB after",
        published.as_secs_f64(),
        healthy.unwrap_or(all).as_secs_f64(),
        all.as_secs_f64(),
        expected - distinct,
        receiver.failed(),
        (server.cpu() - cpu).as_secs_f64() * 1e3 / expected as f64,
        server.own_memory(),
    );
    server.stop();
}
