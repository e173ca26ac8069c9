//! Rows by the thousand, straight into the tables: states that would take too long, or cannot be reached, by the API.
//!
//! Shared by the API tests and the benchmark. Deterministic: ids and times follow from numbers. The rows are those that
//! the server itself would have written, counters included once [`Seed::write`] is done.

#![allow(dead_code, unreachable_pub, reason = "each user needs other parts")]

use store::Db;
use store::db::Engine;

/// 2026-01-01 00:00 UTC, in milliseconds: before the fixed clock of the tests.
pub const EPOCH_MS: i64 = 1_767_225_600_000;

/// Rows of one INSERT: enough to be fast, few enough for every engine.
const BATCH: usize = 400;

/// The id of what was made `ms` milliseconds after [`EPOCH_MS`]; `sequence` numbers what was made within one.
pub fn id(ms: i64, sequence: i64) -> i64 {
    ((EPOCH_MS + ms) << 16) | sequence
}

/// Rows to be written.
#[derive(Debug)]
pub struct Seed {
    engine: Engine,
    domain: String,
    next: i64,
    tables: Vec<(&'static str, Vec<String>)>,
}

/// A status to be written. The default is a public one that answers nothing.
#[derive(Clone, Debug)]
pub struct Status<'a> {
    pub author: i64,
    pub text: &'a str,
    pub visibility: &'a str,
    pub reply_to: Option<Reply>,
    pub reblog_of: Option<i64>,
    pub local: bool,
}

/// What a status answers, and whose it is.
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    pub status: i64,
    pub account: i64,
    pub conversation: i64,
}

impl Default for Status<'_> {
    fn default() -> Self {
        Self { author: 0, text: "hello", visibility: "public", reply_to: None, reblog_of: None, local: true }
    }
}

impl Seed {
    /// For a database of `engine` and a server called `domain`.
    pub fn new(engine: Engine, domain: &str) -> Self {
        Self { engine, domain: domain.to_owned(), next: 0, tables: Vec::new() }
    }

    /// As [`Seed::new`], with ids above those of `made` rows.
    pub fn after(engine: Engine, domain: &str, made: i64) -> Self {
        Self { next: made, ..Self::new(engine, domain) }
    }

    /// A new id, a second after the one before.
    pub fn next_id(&mut self) -> i64 {
        self.next += 1;
        id(self.next * 1000, 0)
    }

    /// A time as this engine writes it, from the id of what was made then.
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

    /// A local account with a confirmed and approved user, or a remote one.
    pub fn account(&mut self, username: &str, domain: Option<&str>) -> i64 {
        let id = self.next_id();
        let now = self.time(id);
        let host = domain.unwrap_or(&self.domain).to_owned();
        let actor = format!("https://{host}/users/{username}");
        let remote = domain.map_or("NULL".to_owned(), quoted);
        self.row(
            "accounts (id, username, domain, uri, url, actor_type, display_name, note, note_html, fields, locked, indexable, \
             searchability, memorial, also_known_as, other_settings, inbox_url, shared_inbox_url, followers_url, \
             followers_count, following_count, statuses_count, created_at, updated_at, version)",
            format!(
                "{id}, '{username}', {remote}, '{actor}', 'https://{host}/@{username}', 'Person', '{username} of {host}', \
                 'I write.', '<p>I write.</p>', '[]', FALSE, TRUE, 'public', FALSE, '[]', '{{}}', '{actor}/inbox', \
                 'https://{host}/inbox', '{actor}/followers', 0, 0, 0, {now}, {now}, 1"
            ),
        );
        if domain.is_none() {
            self.row(
                "users (account_id, email, confirmed_at, approved, disabled, preferences, last_active_at, feed_state, created_at)",
                format!("{id}, '{username}@example.test', {now}, TRUE, FALSE, '{{}}', {now}, 'live', {now}"),
            );
        }
        id
    }

    /// A status and the conversation that it begins, unless it answers or reblogs something.
    pub fn status(&mut self, status: &Status<'_>) -> i64 {
        let id = self.next_id();
        let now = self.time(id);
        let conversation = match (status.reply_to, status.reblog_of) {
            (Some(reply), _) => reply.conversation.to_string(),
            (None, Some(_)) => "NULL".to_owned(),
            (None, None) => {
                self.row("conversations (id, owner_account_id, created_at)", format!("{id}, {}, {now}", status.author));
                id.to_string()
            }
        };
        let (parent, parent_account) = status.reply_to.map_or(("NULL".to_owned(), "NULL".to_owned()), |reply| {
            (reply.status.to_string(), reply.account.to_string())
        });
        let to_self = status.reply_to.is_none_or(|reply| reply.account == status.author);
        let listed = to_self
            && status.reblog_of.is_none()
            && matches!(status.visibility, "public" | "public_unlisted" | "login");
        let original = status.reblog_of.map_or("NULL".to_owned(), |id| id.to_string());
        let host = if status.local { self.domain.clone() } else { "remote.test".to_owned() };
        let text = quoted(status.text);
        let content = quoted(&format!("<p>{}</p>", status.text));
        self.row(
            "statuses (id, account_id, uri, url, local, text, content, spoiler_text, sensitive, visibility, searchability, \
             language, conversation_id, in_reply_to_id, in_reply_to_account_id, reblog_of_id, listed, has_media, \
             replies_count, reblogs_count, favourites_count, created_at, version)",
            format!(
                "{id}, {}, 'https://{host}/users/x/statuses/{id}', 'https://{host}/@x/{id}', {}, {text}, {content}, '', FALSE, \
                 '{}', 'public', 'en', {conversation}, {parent}, {parent_account}, {original}, {}, FALSE, 0, 0, 0, {now}, 1",
                status.author,
                boolean(status.local),
                status.visibility,
                boolean(listed)
            ),
        );
        id
    }

    /// A further status: an answer to `parent`, which began its conversation.
    pub fn reply(&mut self, author: i64, parent: Reply, visibility: &str) -> i64 {
        self.status(&Status { author, text: "an answer", visibility, reply_to: Some(parent), ..Status::default() })
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

    pub fn mention(&mut self, status: i64, account: i64) -> i64 {
        let id = self.next_id();
        self.row("mentions (id, status_id, account_id, silent)", format!("{id}, {status}, {account}, FALSE"));
        id
    }

    /// A hashtag; [`Seed::tagged`] puts it on statuses.
    pub fn tag(&mut self, name: &str) -> i64 {
        let id = self.next_id();
        let now = self.time(id);
        self.row("tags (id, name, display_name, usable, created_at)", format!("{id}, '{name}', '{name}', TRUE, {now}"));
        id
    }

    pub fn tagged(&mut self, status: i64, tag: i64) {
        self.row("status_tags (tag_id, status_id)", format!("{tag}, {status}"));
    }

    /// An entry of `owner`'s home timeline.
    pub fn home(&mut self, owner: i64, status: i64, author: i64, original: i64) {
        self.row(
            "feed_entries (kind, owner_id, status_id, author_id, original_id)",
            format!("0, {owner}, {status}, {author}, {original}"),
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

    /// A token; `hash` is what [`crypto::hash`] makes of its text.
    pub fn token(&mut self, account: i64, hash: &str, scopes: &str) {
        let id = self.next_id();
        let now = self.time(id);
        self.row(
            "oauth_tokens (id, token_hash, nonce, account_id, scopes, created_at)",
            format!("{id}, '{hash}', 'seed', {account}, '{scopes}', {now}"),
        );
    }

    /// Writes everything in one transaction and brings the counters up to date.
    pub async fn write(mut self, db: &Db) {
        // What others refer to comes first.
        let first = ["accounts ", "users ", "conversations ", "statuses ", "tags "];
        self.tables
            .sort_by_key(|(table, _)| first.iter().position(|name| table.starts_with(name)).unwrap_or(first.len()));
        let mut text = String::from("BEGIN;\n");
        for (table, rows) in &self.tables {
            for batch in rows.chunks(BATCH) {
                text.push_str(&format!("INSERT INTO {table} VALUES\n({});\n", batch.join("),\n(")));
            }
        }
        text.push_str(COUNTERS);
        text.push_str("COMMIT;\n");
        db.execute_raw(&text).await.expect("rows that fit the schema");
    }
}

const COUNTERS: &str = "
    UPDATE accounts SET
        statuses_count = (SELECT COUNT(*) FROM statuses s WHERE s.account_id = accounts.id AND s.visibility <> 'direct'),
        followers_count = (SELECT COUNT(*) FROM follows f WHERE f.target_account_id = accounts.id),
        following_count = (SELECT COUNT(*) FROM follows f WHERE f.account_id = accounts.id),
        last_status_at = (SELECT MAX(s.created_at) FROM statuses s WHERE s.account_id = accounts.id),
        relations_version = relations_version + 1, version = version + 1;
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

fn boolean(value: bool) -> &'static str {
    if value { "TRUE" } else { "FALSE" }
}
