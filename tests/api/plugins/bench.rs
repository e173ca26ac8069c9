//! Direct calls of a plugin's host functions, as from its component.

use std::sync::Arc;

use model::Actor;
use plugins::Active;
use plugins::call::{Call, Caller, Mode};
use rookery_plugin_host::imports::core_write::NewStatus;
use rookery_plugin_host::imports::sql::Value;
use rookery_plugin_host::imports::types::Failure;
use rookery_plugin_host::{Host, Part};
use service::auth;

use super::shelf::{Shelf, component, manifest};
use crate::harness::{Client, TestApp};

/// A manifest with every permission that these tests use.
pub const EVERYTHING: &str = r#"
[permissions]
core = ["read", "read-as-any", "read-all"]
core-views = ["statuses:private"]
core-write = ["create", "delete", "bookmark", "notify", "touch", "as-any"]
feeds = ["custom", "home", "list"]
topics = ["tray", "user"]
storage = ["kv", "cache"]
http = ["http://127.0.0.1:9", "https://*.example.com:443"]
settings = true
[[feed]]
name = "tray"
[[notification]]
type = "tray_filled"
[settings]
schema = "settings.json"
[sql]
migrations = "migrations"
statements = "queries.sql"
"#;

const SETTINGS: &str = r#"{"type": "object", "properties": {
    "size": {"type": "integer", "minimum": 1, "maximum": 9, "default": 5}, "loud": {"type": "boolean", "default": false}}}"#;

const TABLES: &str = "CREATE TABLE trays (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE UNIQUE INDEX trays_name ON trays (name);";

const QUERIES: &str = "
-- name: add   returns: exec
-- params: text name
INSERT INTO trays (name) VALUES (:name);

-- name: names   returns: many
SELECT name FROM trays ORDER BY name;
";

/// A server with one plugin.
pub struct Bench {
    pub app: TestApp,
    pub active: Arc<Active>,
}

impl Bench {
    pub async fn new(more: &str) -> Self {
        Self::of(more, &component("capabilities")).await
    }

    pub async fn of(more: &str, wasm: &[u8]) -> Self {
        Self::on(Shelf::new().await, more, wasm).await
    }

    pub async fn on(shelf: Shelf, more: &str, wasm: &[u8]) -> Self {
        shelf.put_component("tray", &manifest("tray", "1.0.0", more), wasm);
        let folder = shelf.folder("tray");
        std::fs::create_dir_all(folder.join("migrations")).unwrap();
        for (name, text) in
            [("settings.json", SETTINGS), ("queries.sql", QUERIES), ("migrations/0001_trays.sql", TABLES)]
        {
            std::fs::write(folder.join(name), text).unwrap();
        }
        shelf.enable("tray").await.unwrap();
        let active = Arc::clone(shelf.app.plugins().registry().find("tray").unwrap());
        Self { app: shelf.app, active }
    }

    pub fn call(&self, caller: Caller, mode: Mode) -> AsGuest {
        AsGuest(Call::new(&self.app.plugins(), &self.active, Part::Routes, caller, mode))
    }

    /// As called by a hook or job.
    pub fn system(&self, mode: Mode) -> AsGuest {
        self.call(Caller::system(), mode)
    }

    /// As called by a request of `client` with these scopes.
    pub async fn by(&self, client: &Client, scopes: &str, mode: Mode) -> AsGuest {
        let actor = auth::actors(&self.app.app, &[client.id()]).await.unwrap().remove(0);
        let told = scopes.split(' ').map(str::to_owned).collect();
        let scopes = model::Scopes::parse(scopes).unwrap();
        let actor = Some(Arc::new(Actor { scopes, ..actor }));
        self.call(Caller { actor, role: 1, scopes: told, ..Caller::default() }, mode)
    }

    pub async fn names(&self) -> Vec<String> {
        let rows = self.system(Mode::Read).sql_query("names".to_owned(), vec![]).await.unwrap();
        rows.values.into_iter().map(|value| if let Value::Text(name) = value { name } else { panic!() }).collect()
    }
}

/// A call whose host functions are used as a guest uses them: within its permissions, and within the time limit of
/// its transaction.
pub struct AsGuest(pub Arc<Call>);

impl std::ops::Deref for AsGuest {
    type Target = dyn Host;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

pub fn add(name: &str) -> (String, Vec<Value>) {
    ("add".to_owned(), vec![Value::Text(name.to_owned())])
}

pub fn id(client: &Client) -> i64 {
    client.id().into()
}

pub fn code<T: std::fmt::Debug>(result: Result<T, Failure>) -> (u16, String) {
    let failure = result.expect_err("a failure");
    (failure.status, failure.code)
}

pub fn new_status(author: i64, text: &str, key: &str) -> NewStatus {
    NewStatus {
        author,
        text: text.to_owned(),
        spoiler: String::new(),
        visibility: 0,
        language: None,
        reply_to: None,
        media: Vec::new(),
        recipients: Vec::new(),
        extra: None,
        idempotency_key: key.to_owned(),
    }
}
