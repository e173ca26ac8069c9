//! Web push: the cost of a push, and whether each arrives once at a service that rejects a tenth of them at first.
//!
//! A publisher has followers who are notified of each status; every follower has a subscription. The service runs in
//! this process, decrypts every message as an app does, and returns 503 to each tenth the first time.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use database::Db;

use crate::data::Data;
use crate::load::Connection;
use crate::push_service::PushService;
use crate::scratch;
use crate::site::Site;
use crate::streams;

/// Number of pushed notifications.
const NOTIFICATIONS: usize = 10_000;
/// One in this many is rejected the first time.
const FAILS: i64 = 10;
/// Time limit for all notifications.
const PATIENCE: Duration = Duration::from_secs(240);

/// Messages received by the service.
#[derive(Default)]
struct Inbox {
    /// Number of 503 responses.
    failed: AtomicUsize,
    /// Number of accepted deliveries of each message, by its access token and notification.
    taken: Mutex<HashMap<(String, i64), usize>>,
    refused: Mutex<HashSet<(String, i64)>>,
}

impl Inbox {
    /// HTTP status of the response to a message.
    fn judge(&self, message: &serde_json::Value) -> u16 {
        let token = message["access_token"].as_str().unwrap_or_default().to_owned();
        let key = (token, message["notification_id"].as_i64().unwrap_or_default());
        // Ids of one batch end in a counter.
        if key.1 % FAILS == 0 && self.refused.lock().expect("a set").insert(key.clone()) {
            self.failed.fetch_add(1, Ordering::Relaxed);
            return 503;
        }
        *self.taken.lock().expect("a map").entry(key).or_default() += 1;
        201
    }

    fn taken(&self) -> usize {
        self.taken.lock().expect("a map").len()
    }
}

/// Measures on a site with a filled database and a stopped server.
pub async fn measure(site: &Site<'_>, db: &Db, data: &Data) {
    let publisher = data.targets.publishers.iter().max_by_key(|one| one.followers).expect("a publisher");
    let tokens = streams::followers(db, &publisher.token).await;
    let statuses = NOTIFICATIONS / tokens.len();
    let expected = statuses * tokens.len();
    println!("\nPush of {expected} notifications to a service that fails a tenth of them at first\n");
    let inbox = Arc::new(Inbox::default());
    let judging = Arc::clone(&inbox);
    let service = PushService::judging(move |message| judging.judge(message)).await;
    let server = site.start(&[("FEDERATION_ALLOW_PRIVATE_ADDRESSES", "127.0.0.1/32")]).await;
    subscribe(db, &service, &publisher.token, &tokens).await;

    let postgres =
        || if db.engine() == database::Engine::Postgres { crate::process::postgres_cpu() } else { Duration::ZERO };
    let (begun, cpu, database_cpu) = (Instant::now(), server.cpu(), postgres());
    let mut connection = Connection::open(server.address).await;
    for number in 0..statuses {
        streams::publish(&mut connection, &publisher.token, number).await;
    }
    while inbox.taken() < expected {
        assert!(begun.elapsed() < PATIENCE, "{} of {expected} arrived", inbox.taken());
        tokio::time::sleep(Duration::from_millis(10)).await;
        if inbox.taken() * 100 >= expected * 89 && inbox.failed.load(Ordering::Relaxed) > 0 {
            break;
        }
    }
    // The first nine tenths, without the back-off of failed pushes.
    let (most, took) = (inbox.taken(), begun.elapsed());
    while inbox.taken() < expected {
        assert!(begun.elapsed() < PATIENCE, "{} of {expected} arrived", inbox.taken());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let all = begun.elapsed();
    scratch::settle(db).await;
    let requests = expected + inbox.failed.load(Ordering::Relaxed);
    let each = |cpu: Duration| cpu.as_secs_f64() * 1e6 / requests as f64;
    println!(
        "{:.0} pushes a second for the first {most}; all {expected} within {:.1} s; CPU {:.0} us a request, of the database {:.0} us",
        most as f64 / took.as_secs_f64(),
        all.as_secs_f64(),
        each(server.cpu() - cpu),
        each(postgres() - database_cpu)
    );
    let left = scratch::number(db, "SELECT COUNT(*) FROM jobs WHERE lane = 'push'").await;
    let taken = inbox.taken.lock().expect("a map");
    let twice = taken.values().filter(|count| **count > 1).count();
    println!(
        "{} answered with 503 at first; arrived once: {}, more than once: {twice}, never: {}; jobs left: {left}",
        inbox.failed.load(Ordering::Relaxed),
        taken.len() - twice,
        expected - taken.len()
    );
    drop(taken);
    server.stop();
}

/// Enables notifications of each status for all followers of the account with `token`, and subscribes their `tokens`.
async fn subscribe(db: &Db, service: &PushService, token: &str, tokens: &[String]) {
    let publisher = format!("(SELECT account_id FROM oauth_tokens WHERE token_hash = '{}')", crypto::hash(token));
    let notify = format!("UPDATE follows SET notify = TRUE WHERE target_account_id = {publisher}");
    db.execute_raw(&notify).await.expect("followers");
    let new = service.subscription("/push", true, &["status"], "all");
    let subscription = &new["subscription"];
    let text = |value: &serde_json::Value| format!("'{}'", value.as_str().expect("a text"));
    let hashes: Vec<String> = tokens.iter().map(|token| format!("'{}'", crypto::hash(token))).collect();
    let insert = format!(
        "INSERT INTO push_subscriptions (token_id, account_id, endpoint, p256dh, auth, standard, alerts, policy, created_at)
         SELECT t.id, t.account_id, {}, {}, {}, TRUE, '{{\"status\":true}}', 'all', {}
         FROM oauth_tokens t WHERE t.token_hash IN ({})",
        text(&subscription["endpoint"]),
        text(&subscription["keys"]["p256dh"]),
        text(&subscription["keys"]["auth"]),
        scratch::now(db),
        hashes.join(",")
    );
    db.execute_raw(&insert).await.expect("subscriptions");
}
