//! Antennas without a sandbox: the same outbox and the same matching, compiled into this program and called as
//! functions.
//!
//! The reference for the plugin's processor time. It omits everything that the boundary requires (copies, a call,
//! grants, the check of permissions), and also the jobs that trim feeds, the events of streams, and the polling for
//! other work: less than any server could do with.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::time::Duration;

use antennas::index::{Antenna, Here, Index};
use antennas::layers::{Layers, Step};
use antennas::room;
use antennas::spread::{self, Entry};
use antennas::status::{Status, Visibility};
use axum::Router;
use axum::routing::get;
use database::{Db, Tx};
use model::PluginId;
use model::clock::Clock;
use model::{StatusId, Time};
use plugins::call::records::{self, Reader};
use rookery_plugin_host::imports::types::Status as Record;
use store::feed::{Feed, HOME, LIST};
use store::plugin_event::{self, EventLane};
use store::plugin_feed::{self, NewEntry};

use crate::data::DOMAIN;
use crate::outbox::table;
use crate::plugins::POLL;
use crate::scratch;

/// As the plugin's hook requests from the host.
const BATCH: i64 = 64;
const GATHER: Duration = Duration::from_millis(50);
/// Owners who were active in the last seven days get statuses.
const AWAKE: chrono::TimeDelta = chrono::TimeDelta::days(7);

struct Native {
    db: Db,
    plugin: PluginId,
    antennas: Layers,
    here: Here,
}

/// Places the statuses in the antennas' outbox of the database at `url`, until the process is killed.
pub async fn serve(url: &str, address: SocketAddr) {
    let db = scratch::open(url).await;
    let plugin: Vec<(i64,)> = db.fetch_raw("SELECT id FROM plugins WHERE name = 'antennas'").await.expect("the plugin");
    let here = Here { domain: DOMAIN.to_owned(), local_timeline: true };
    let mut native = Native { db, plugin: plugin[0].0, antennas: Layers::default(), here };
    let listener = tokio::net::TcpListener::bind(address).await.expect("a free port");
    let health = Router::new().route("/readyz", get(|| async { "OK" }));
    tokio::spawn(async { axum::serve(listener, health).await.expect("it is served") });
    loop {
        if native.head(1).await.is_empty() {
            tokio::time::sleep(POLL).await;
            continue;
        }
        tokio::time::sleep(GATHER).await;
        while native.batch().await {}
    }
}

impl Native {
    fn lane(&self) -> EventLane {
        EventLane { plugin: self.plugin, stream: "fanout", shard: 0 }
    }

    async fn head(&self, limit: i64) -> Vec<plugin_event::EventRow> {
        plugin_event::list_next(&self.db, self.lane(), limit).await.expect("the outbox")
    }

    /// Places the next statuses; false when there are none.
    async fn batch(&mut self) -> bool {
        let rows = self.head(BATCH).await;
        if rows.is_empty() {
            return false;
        }
        let ids: Vec<StatusId> = rows.iter().filter_map(|row| row.subject_id).map(StatusId::from).collect();
        let reader = Reader { id: self.plugin, name: "antennas", private: true };
        let records = records::statuses(&self.db, reader, &ids).await.expect("the statuses");
        let records: Vec<&Record> = ids.iter().filter_map(|id| records.get(id)).collect();
        let now = Clock::system().now();
        self.refresh().await;
        let wanted = self.wanted(&records, now).await;
        let mut tx = self.db.begin().await.expect("a transaction");
        self.insert(&mut tx, &wanted, now).await;
        let seqs: Vec<i64> = rows.iter().map(|row| row.seq).collect();
        plugin_event::delete(&mut tx, &seqs).await.expect("the outbox");
        tx.commit().await.expect("a commit");
        true
    }

    /// Checks whether an antenna changed, and reads all antennas if one did.
    async fn refresh(&mut self) {
        let counters = format!("SELECT version, epoch FROM {} WHERE id = 1", table(&self.db, "antennas", "counters"));
        let counters: Vec<(i64, i64)> = self.db.fetch_raw(&counters).await.expect("the counters");
        let (version, epoch) = counters[0];
        if self.antennas.step(version, epoch) == Step::None {
            return;
        }
        let all =
            format!("SELECT id, account_id, CAST(terms AS TEXT) FROM {}", table(&self.db, "antennas", "antennas"));
        let rows: Vec<(i64, i64, String)> = self.db.fetch_raw(&all).await.expect("the antennas");
        let antenna = |(id, owner, terms): (i64, i64, String)| {
            let terms = serde_json::from_str(&terms).expect("the plugin's JSON");
            Antenna { id, owner, terms, ..Antenna::default() }
        };
        let index = Index::build(rows.into_iter().map(antenna).collect(), room::BASE).expect("an automaton");
        self.antennas = Layers::new(index, version, epoch);
    }

    async fn wanted(&self, records: &[&Record], now: Time) -> Vec<Entry> {
        let statuses: Vec<Status<'_>> = records.iter().map(|record| status(record)).collect();
        let caught = spread::catch(&self.antennas, &statuses, &HashMap::new(), &self.here);
        assert!(spread::doubtful(&caught, &statuses).is_empty(), "everything here is public");
        if caught.is_empty() {
            return Vec::new();
        }
        let owners: HashSet<String> = caught.iter().map(|one| one.rule.owner.to_string()).collect();
        let owners = owners.into_iter().collect::<Vec<_>>().join(", ");
        let awake = format!(
            "SELECT a.id FROM accounts a JOIN users u ON u.account_id = a.id
             WHERE a.id IN ({owners}) AND a.suspended_at IS NULL AND u.last_active_at > {}",
            scratch::time(&self.db, now - AWAKE)
        );
        let awake: Vec<(i64,)> = self.db.fetch_raw(&awake).await.expect("the owners");
        let awake = awake.into_iter().map(|(id,)| id).collect();
        spread::entries(&caught, &statuses, &awake, &HashSet::new())
    }

    async fn insert(&self, tx: &mut Tx, wanted: &[Entry], now: Time) {
        if wanted.is_empty() {
            return;
        }
        let own = plugin_feed::get_or_insert_kind(tx, self.plugin, "antenna").await.expect("the feeds");
        let row = |entry: &Entry| {
            let (kind, owner) = match entry.feed {
                spread::Feed::Antenna(id) => (own, id),
                spread::Feed::Home(account) => (HOME, account),
                spread::Feed::List(list) => (LIST, list),
            };
            NewEntry { feed: Feed { kind, owner }, viewer: Some(entry.viewer), status: entry.status }
        };
        let rows: Vec<NewEntry> = wanted.iter().map(row).collect();
        plugin_feed::insert(tx, &rows, now).await.expect("the feeds");
    }
}

fn status(record: &Record) -> Status<'_> {
    Status {
        id: record.id,
        account: record.account,
        domain: record.domain.as_deref(),
        local: record.local,
        reblog: record.reblog_of.is_some(),
        visibility: Visibility::from_code(record.visibility),
        searchability: &record.searchability,
        text: &record.text,
        tags: &record.tags,
        mentions: &record.mentions,
        media: record.media_count > 0,
    }
}
