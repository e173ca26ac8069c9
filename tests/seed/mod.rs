//! Rows by the thousand, written directly into the tables: states that the API cannot create, or only slowly.
//!
//! Shared by the API tests and the benchmark. Deterministic: ids and times follow from numbers. The rows are the same
//! that the server itself would have written, including counters once [`Seed::write`] is done.

#![allow(dead_code, unused_imports, unreachable_pub, reason = "each user needs other parts")]

mod feed;
mod profile;
mod status;

use std::collections::HashMap;

use database::Db;
use database::db::Engine;

pub use feed::{fill_homes, fill_lists};
pub use profile::Profile;
pub use status::{LINK, Reply, Status};

/// 2026-01-01 00:00 UTC, in milliseconds: before the fixed clock of the tests.
pub const EPOCH_MS: i64 = 1_767_225_600_000;

/// Rows of one INSERT: enough to be fast, few enough for every engine.
const BATCH: usize = 400;

/// Id of a record created `ms` milliseconds after [`EPOCH_MS`]; `sequence` numbers the records of one millisecond.
pub fn id(ms: i64, sequence: i64) -> i64 {
    ((EPOCH_MS + ms) << 16) | sequence
}

/// Pending rows.
#[derive(Debug)]
pub struct Seed {
    engine: Engine,
    domain: String,
    next: i64,
    /// User names of the seeded accounts, for the URLs of their statuses.
    usernames: HashMap<i64, String>,
    tables: Vec<(&'static str, Vec<String>)>,
    homes: Vec<String>,
}

impl Seed {
    /// For a database of `engine` and a server called `domain`.
    pub fn new(engine: Engine, domain: &str) -> Self {
        Self {
            engine,
            domain: domain.to_owned(),
            next: 0,
            usernames: HashMap::new(),
            tables: Vec::new(),
            homes: Vec::new(),
        }
    }

    /// As [`Seed::new`], with ids above the first `made` rows.
    pub fn after(engine: Engine, domain: &str, made: i64) -> Self {
        Self { next: made, ..Self::new(engine, domain) }
    }

    /// A new id, a second after the previous one.
    pub fn next_id(&mut self) -> i64 {
        self.next += 1;
        id(self.next * 1000, 0)
    }

    /// Time of the record `id` as an SQL literal of this engine.
    pub fn time(&self, id: i64) -> String {
        let ms = id >> 16;
        match self.engine {
            Engine::Sqlite => (ms * 1000).to_string(),
            Engine::Postgres => format!("to_timestamp({}.{:03})", ms / 1000, ms % 1000),
        }
    }

    fn row(&mut self, table: &'static str, values: String) {
        match self.tables.iter_mut().find(|(name, _)| *name == table) {
            Some((_, rows)) => rows.push(values),
            None => self.tables.push((table, vec![values])),
        }
    }

    pub fn follow(&mut self, account: i64, target: i64) {
        self.tie(
            "follows (id, account_id, target_account_id, created_at, show_reblogs, notify)",
            account,
            target,
            ", TRUE, FALSE",
        );
    }

    pub fn follow_request(&mut self, account: i64, target: i64) {
        let table = "follow_requests (id, account_id, target_account_id, created_at, show_reblogs, notify)";
        self.tie(table, account, target, ", TRUE, FALSE");
    }

    pub fn block(&mut self, account: i64, target: i64) {
        self.tie("blocks (id, account_id, target_account_id, created_at)", account, target, "");
    }

    pub fn endorse(&mut self, account: i64, target: i64) {
        self.tie("endorsements (id, account_id, target_account_id, created_at)", account, target, "");
    }

    pub fn mute(&mut self, account: i64, target: i64) {
        self.tie(
            "mutes (id, account_id, target_account_id, created_at, hide_notifications)",
            account,
            target,
            ", TRUE",
        );
    }

    pub fn favourite(&mut self, account: i64, status: i64) {
        self.tie("favourites (id, account_id, status_id, created_at)", account, status, "");
    }

    pub fn bookmark(&mut self, account: i64, status: i64) {
        self.tie("bookmarks (id, account_id, status_id, created_at)", account, status, "");
    }

    /// A request of `account` to mark `target`, a status of `author`, as a favourite.
    pub fn interaction_request(&mut self, account: i64, target: i64, author: i64) {
        let id = self.next_id();
        let now = self.time(id);
        self.row(
            "interaction_requests (id, kind, target_id, author_id, account_id, uri, state, created_at)",
            format!("{id}, 'favourite', {target}, {author}, {account}, 'https://example.test/{id}', 'pending', {now}"),
        );
    }

    pub fn pin(&mut self, account: i64, status: i64) {
        self.tie("status_pins (id, account_id, status_id, created_at)", account, status, "");
    }

    fn tie(&mut self, table: &'static str, one: i64, other: i64, rest: &str) -> i64 {
        let id = self.next_id();
        let now = self.time(id);
        self.row(table, format!("{id}, {one}, {other}, {now}{rest}"));
        id
    }

    pub fn block_domain(&mut self, account: i64, domain: &str) {
        let id = self.next_id();
        let now = self.time(id);
        self.row(
            "account_domain_blocks (id, account_id, domain, created_at)",
            format!("{id}, {account}, '{domain}', {now}"),
        );
    }

    pub fn notification(&mut self, account: i64, from: i64, kind: &str, status: Option<i64>) -> i64 {
        let id = self.next_id();
        let now = self.time(id);
        let status = status.map_or("NULL".to_owned(), |status| status.to_string());
        self.row(
            "notifications (id, account_id, from_account_id, type, activity_id, status_id, filtered, created_at)",
            format!("{id}, {account}, {from}, '{kind}', {id}, {status}, FALSE, {now}"),
        );
        id
    }

    /// A notification in the group of its half day.
    pub fn grouped_notification(&mut self, account: i64, from: i64, kind: &str, status: Option<i64>) -> i64 {
        let id = self.next_id();
        let now = self.time(id);
        let hour = (id >> 16) / (12 * 3_600_000) * 12;
        let group = status.map_or(format!("{kind}-{hour}"), |status| format!("{kind}-{status}-{hour}"));
        let status = status.map_or("NULL".to_owned(), |status| status.to_string());
        self.row(
            "notifications (id, account_id, from_account_id, type, activity_id, status_id, filtered, created_at, group_key)",
            format!("{id}, {account}, {from}, '{kind}', {id}, {status}, FALSE, {now}, '{group}'"),
        );
        id
    }

    /// A mention that the policy of `account` filtered.
    pub fn filtered_mention(&mut self, account: i64, from: i64, status: i64) -> i64 {
        let id = self.next_id();
        let now = self.time(id);
        self.row(
            "notifications (id, account_id, from_account_id, type, activity_id, status_id, filtered, created_at)",
            format!("{id}, {account}, {from}, 'mention', {id}, {status}, TRUE, {now}"),
        );
        id
    }

    /// The request of an account whose mentions were filtered.
    pub fn notification_request(&mut self, account: i64, from: i64) -> i64 {
        let id = self.next_id();
        let now = self.time(id);
        self.row(
            "notification_requests (id, account_id, from_account_id, created_at, updated_at)",
            format!("{id}, {account}, {from}, {now}, {now}"),
        );
        id
    }

    /// A token; `hash` is the result of [`crypto::hash`] for its text.
    pub fn token(&mut self, account: i64, hash: &str, scopes: &str) {
        let id = self.next_id();
        let now = self.time(id);
        self.row(
            "oauth_tokens (id, token_hash, nonce, account_id, scopes, created_at)",
            format!("{id}, '{hash}', 'seed', {account}, '{scopes}', {now}"),
        );
    }

    /// A browser session without end; `hash` is as for [`Seed::token`].
    pub fn session(&mut self, account: i64, hash: &str) {
        /// The year 2100, in milliseconds.
        const LATER: i64 = 4_102_444_800_000;
        let id = self.next_id();
        let (now, later) = (self.time(id), self.time(LATER << 16));
        self.row(
            "web_sessions (id, account_id, token_hash, created_at, expires_at)",
            format!("{id}, {account}, '{hash}', {now}, {later}"),
        );
    }

    /// Writes everything in one transaction and updates the counters.
    pub async fn write(mut self, db: &Db) {
        // Older programs can be measured too.
        if db.fetch_raw::<(i64,)>("SELECT id FROM account_conversations LIMIT 1").await.is_err() {
            self.tables.retain(|(table, _)| !table.starts_with("account_conversation"));
        }
        // Referenced tables come first.
        let first = ["accounts ", "users ", "conversations ", "statuses ", "tags ", "polls "];
        self.tables
            .sort_by_key(|(table, _)| first.iter().position(|name| table.starts_with(name)).unwrap_or(first.len()));
        let mut text = String::from("BEGIN;\n");
        for (table, rows) in &self.tables {
            for batch in rows.chunks(BATCH) {
                text.push_str(&format!("INSERT INTO {table} VALUES\n({});\n", batch.join("),\n(")));
            }
        }
        text.push_str(COUNTERS);
        if self.tables.iter().any(|(table, _)| table.starts_with("polls ")) {
            text.push_str("UPDATE statuses SET has_poll = TRUE WHERE id IN (SELECT status_id FROM polls);\n");
        }
        if self.tables.iter().any(|(table, _)| table.starts_with("status_references ")) {
            text.push_str(REFERENCES);
        }
        // Older programs can be measured too.
        if db.fetch_raw::<(i64,)>("SELECT relations_version FROM accounts LIMIT 1").await.is_ok() {
            text.push_str("UPDATE accounts SET relations_version = relations_version + 1;\n");
        }
        if db.fetch_raw::<(i64,)>("SELECT id FROM notification_groups LIMIT 1").await.is_ok() {
            text.push_str(GROUPS);
        }
        for batch in self.homes.chunks(BATCH) {
            text.push_str(&feed::insert(db, &format!("SELECT * FROM (VALUES ({})) entries", batch.join("), ("))).await);
        }
        text.push_str("COMMIT;\n");
        db.execute_raw(&text).await.expect("rows that fit the schema");
    }
}

const REFERENCES: &str = "
    UPDATE statuses SET has_references = TRUE, quote_state = 'accepted',
        quote_id = (SELECT MIN(r.target_id) FROM status_references r WHERE r.status_id = statuses.id)
    WHERE id IN (SELECT r.status_id FROM status_references r);
    UPDATE statuses SET
        referred_by_count = (SELECT COUNT(*) FROM status_references r JOIN statuses s ON s.id = r.status_id
                             WHERE r.target_id = statuses.id AND s.visibility IN ('public', 'public_unlisted', 'unlisted')),
        quotes_count = (SELECT COUNT(*) FROM statuses s
                        WHERE s.quote_id = statuses.id AND s.visibility IN ('public', 'public_unlisted', 'unlisted'))
    WHERE id IN (SELECT r.target_id FROM status_references r);
";

const GROUPS: &str = "
    INSERT INTO notification_groups (id, account_id, group_key, type, status_id, last_id)
    SELECT MIN(id), account_id, group_key, MIN(type), MIN(status_id), MAX(id) FROM notifications
    WHERE group_key IS NOT NULL GROUP BY account_id, group_key
    ON CONFLICT DO NOTHING;
";

const COUNTERS: &str = "
    UPDATE accounts SET
        statuses_count = (SELECT COUNT(*) FROM statuses s WHERE s.account_id = accounts.id AND s.visibility <> 'direct'),
        followers_count = (SELECT COUNT(*) FROM follows f WHERE f.target_account_id = accounts.id),
        following_count = (SELECT COUNT(*) FROM follows f WHERE f.account_id = accounts.id),
        last_status_at = (SELECT MAX(s.created_at) FROM statuses s WHERE s.account_id = accounts.id),
        version = version + 1;
    UPDATE statuses SET
        conversation_id = (SELECT o.conversation_id FROM statuses o WHERE o.id = statuses.reblog_of_id)
    WHERE reblog_of_id IS NOT NULL;
    UPDATE statuses SET
        replies_count = (SELECT COUNT(*) FROM statuses r WHERE r.in_reply_to_id = statuses.id
                         AND r.visibility IN ('public', 'public_unlisted', 'unlisted')),
        favourites_count = (SELECT COUNT(*) FROM favourites f WHERE f.status_id = statuses.id),
        reblogs_count = (SELECT COUNT(*) FROM statuses r WHERE r.reblog_of_id = statuses.id),
        version = version + 1;
";

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Storage key of a file that does not exist.
fn key(folder: &str, id: i64, extension: &str) -> String {
    // Multiplied by the golden ratio, to spread the files over many folders, as random names do.
    let name = format!("{0:016x}{0:016x}", id.cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15));
    format!("{folder}/{}/{}/{name}.{extension}", &name[..2], &name[2..4])
}

fn boolean(value: bool) -> &'static str {
    if value { "TRUE" } else { "FALSE" }
}
