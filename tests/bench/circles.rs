//! Publishing to a circle of 500, compared with publishing to the same number of accounts outside a circle.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use database::Db;

use crate::data::{DOMAIN, Data};
use crate::load::{Amount, Connection, Requests, request};
use crate::measure::millis;
use crate::outbox::table;
use crate::plugins::switch;
use crate::routes::Route;
use crate::scratch;
use crate::site::Site;
use crate::subject::Subject;

/// Members of the circle.
const MEMBERS: usize = 500;
const AMOUNT: Amount = Amount { requests: 200, time: Duration::from_secs(10) };

/// Measures on a site with a filled database and a stopped server.
pub async fn measure(site: &Site<'_>, data: &Data) {
    println!(
        "\nA circle of {MEMBERS} (CPU microseconds for a post, with the database and all that it leaves to be done)\n"
    );
    switch(site, &[], "enable", &["circles"]);
    let server = site.start(&[]).await;
    let db = scratch::open(site.url).await;
    let token = data.targets.publishers.last().expect("somebody whom many follow").token.clone();
    let made = request("POST", "/api/v1/circles", DOMAIN, Some(&token), Some("{\"title\":\"Rooks\"}"));
    let made: serde_json::Value =
        serde_json::from_slice(&Connection::open(server.address).await.ask(&made).await).expect("JSON");
    let circle = made["id"].as_str().expect("an id").to_owned();
    fill(&db, &circle).await;
    let subject = Subject::new(server.address, server.id(), &db);
    for (name, visibility) in [("to the circle", "circle"), ("to all followers, private", "private")] {
        let route =
            Route { name: name.to_owned(), requests: posts(&token, visibility, &circle), amount: AMOUNT, writes: true };
        let next = Arc::new(AtomicUsize::new(0));
        subject.warm(&route, &next).await;
        let cost = subject.load(&route, AMOUNT, 1, &next).await;
        println!(
            "{name}: p50 {:.1} ms, p99 {:.1} ms, {:.0} us CPU",
            millis(cost.run.p50),
            millis(cost.run.p99),
            cost.total().unwrap_or_default()
        );
    }
    server.stop();
    switch(site, &[], "disable", &["circles"]);
    db.close().await;
}

/// Makes the first followers of the circle's owner its members.
async fn fill(db: &Db, circle: &str) {
    let (circles, members) = (table(db, "circles", "circles"), table(db, "circles", "members"));
    let statement = format!(
        "INSERT INTO {members} (circle_id, member_id, account_id, follow_id)
         SELECT c.id, f.account_id, c.account_id, f.id
         FROM {circles} c JOIN follows f ON f.target_account_id = c.account_id
         WHERE c.id = {circle} ORDER BY f.id LIMIT {MEMBERS}"
    );
    db.execute_raw(&statement).await.expect("members");
    let count = format!("SELECT COUNT(*) FROM {members} WHERE circle_id = {circle}");
    let count: Vec<(i64,)> = db.fetch_raw(&count).await.expect("members");
    assert_eq!(count[0].0, MEMBERS as i64, "enough people follow the owner");
}

fn posts(token: &str, visibility: &'static str, circle: &str) -> Requests {
    let (token, circle) = (token.to_owned(), circle.to_owned());
    Arc::new(move |number| {
        let text = format!("The rooks are back, number {number} of them, and only some of you are to know.");
        let body = serde_json::json!({ "status": text, "visibility": visibility, "circle_id": circle }).to_string();
        request("POST", "/api/v1/statuses", DOMAIN, Some(&token), Some(&body))
    })
}
