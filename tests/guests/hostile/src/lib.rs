//! Takes all the database that it can get, in routes, hooks and batches: what others notice of it is measured with it.

#![cfg_attr(not(target_family = "wasm"), allow(dead_code, reason = "called by the sandbox alone"))]

use rookery_plugin::contract::events::Event;
use rookery_plugin::prelude::*;

#[plugin]
struct Hostile;

/// The largest text of a parameter that a function takes whole, bytes.
const BODY: usize = 100_000;

fn body() -> String {
    "a".repeat(BODY)
}

/// The longest set or pattern that functions take.
fn set() -> String {
    "ab".repeat(50)
}

#[route(post, "/api/v1/hostile/fill")]
fn fill(_ctx: &Context) -> Result<Output> {
    for _ in 0..20 {
        sql::fill(body()).exec()?;
    }
    Output::empty()
}

#[route(get, "/api/v1/hostile/read")]
fn read(_ctx: &Context) -> Result<Output> {
    let found: i64 = sql::read(set(), set()).one()?;
    Output::json(&found)
}

#[route(get, "/api/v1/hostile/known")]
fn known(_ctx: &Context) -> Result<Output> {
    let found: i64 = sql::known().one()?;
    Output::json(&found)
}

#[route(post, "/api/v1/hostile/write")]
fn write(_ctx: &Context) -> Result<Output> {
    sql::write(set(), set()).exec()?;
    Output::empty()
}

/// Many statements in one transaction, each of which may run.
#[route(post, "/api/v1/hostile/write_many")]
fn write_many(_ctx: &Context) -> Result<Output> {
    for _ in 0..500 {
        sql::write_some(set()).exec()?;
    }
    Output::empty()
}

#[route(post, "/api/v1/hostile/batch")]
fn batch(_ctx: &Context) -> Result<Output> {
    sql::batch((0..500).map(|_| sql::fill(body())))?;
    Output::empty()
}

/// Reads a row, or for as long as it may about statuses that say so.
#[on(status_filter)]
fn before_save(_ctx: &Context, draft: &Draft) -> Result<Verdict> {
    let _: i64 = sql::known().one()?;
    if draft.text.contains("slowly") {
        let _: i64 = sql::read(set(), set()).one()?;
    }
    Ok(Verdict::Pass)
}

/// Writes for as long as it may.
#[on(events)]
fn hear(_batch: &[Event]) -> Result<()> {
    sql::write(set(), set()).exec()?;
    Ok(())
}
